import { describe, expect, test } from '@jest/globals';
import { parametersIn } from '@tocsin/http';
import { type Operation, routeTable } from '../../src/routes/domain/route-table.ts';

const operation = (method: string, path: string, id = `${method} ${path}`): Operation => ({
  id,
  method,
  path,
  service: 'incident',
  scope: 'incidents:read',
  needs: [],
  deadline: 10_000,
});

const table = routeTable([
  operation('GET', '/api/v1/incidents'),
  operation('POST', '/api/v1/incidents'),
  operation('GET', '/api/v1/incidents/archived'),
  operation('GET', '/api/v1/incidents/{id}'),
  operation('PATCH', '/api/v1/incidents/{id}'),
  operation('POST', '/api/v1/incidents/{id}/close'),
  operation('PATCH', '/api/v1/teams/{id}/members/{userId}'),
  operation('GET', '/api/v1/teams/lead/members'),
  operation('GET', '/api/v1/teams/{id}/history'),
]);
const idOf = (method: string, path: string) => table.find(path)?.operation(method)?.id;

describe('the route table', () => {
  test.each([
    ['GET', '/api/v1/incidents', 'GET /api/v1/incidents'],
    ['GET', '/api/v1/incidents/5', 'GET /api/v1/incidents/{id}'],
    ['GET', '/api/v1/incidents/archived', 'GET /api/v1/incidents/archived'],
    ['POST', '/api/v1/incidents/5/close', 'POST /api/v1/incidents/{id}/close'],
    ['PATCH', '/api/v1/teams/1/members/2', 'PATCH /api/v1/teams/{id}/members/{userId}'],
    ['GET', '/api/v1/teams/lead/history', 'GET /api/v1/teams/{id}/history'],
    ['HEAD', '/api/v1/incidents/5', 'GET /api/v1/incidents/{id}'],
  ])('%s %s', (method, path, id) => expect(idOf(method, path)).toBe(id));

  test.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/incidents/',
    '/api/v1/incidents/5/',
    '/api/v1//incidents',
    '//api/v1/incidents',
    '/API/v1/incidents',
    '/api/v1/Incidents',
    '/api/v1/%69ncidents',
    '/api/v1/incidents/.',
    '/api/v1/incidents/..',
    '/api/v1/incidents/../close',
    '/api/v1/incidents/%2e%2E/close',
    '/api/v1/incidents/.%2e',
    '/api/v1/teams/1/members/',
    '*',
    '',
  ])('%j is not found', (path) => expect(table.find(path)).toBeUndefined());

  test('an encoded segment matches a parameter only', () => {
    expect(idOf('GET', '/api/v1/incidents/%61rchived')).toBe('GET /api/v1/incidents/{id}');
    expect(idOf('GET', '/api/v1/incidents/5%2Fclose')).toBe('GET /api/v1/incidents/{id}');
    expect(idOf('GET', '/api/v1/incidents/...')).toBe('GET /api/v1/incidents/{id}');
  });

  test('parametersIn returns the values of the parameters', () => {
    const path = '/api/v1/teams/{id}/members/{userId}';
    expect(parametersIn('/api/v1/teams/7/members/42', path)).toEqual({ id: '7', userId: '42' });
  });

  test('a literal path has its own methods', () => {
    expect(table.find('/api/v1/incidents/archived')?.allow).toEqual(['GET', 'HEAD']);
    expect(idOf('PATCH', '/api/v1/incidents/archived')).toBe('unknown_incident');
    expect(idOf('PROPFIND', '/api/v1/incidents/archived')).toBeUndefined();
    expect(table.find('/api/v1/incidents')?.allow).toEqual(['GET', 'HEAD', 'POST']);
    expect(table.find('/api/v1/incidents/5/close')?.allow).toEqual(['POST']);
    expect(idOf('HEAD', '/api/v1/incidents/5/close')).toBe('unknown_incident');
  });

  test('two operations must not have the same method and path, whatever the parameter is called', () => {
    expect(() => routeTable([operation('GET', '/a/{id}', 'one'), operation('GET', '/a/{other}', 'two')])).toThrow(
      'two and one claim GET /a/{other}',
    );
  });

  test('what it lacks below the prefix of a service is for that service', () => {
    const services = routeTable([
      operation('GET', '/api/v1/incidents/{id}'),
      { ...operation('GET', '/api/v1/settings/webhooks'), service: 'webhook' },
      { ...operation('GET', '/api/v1/settings/keys/{id}'), service: 'gateway' },
    ]);
    const ownerOf = (path: string) => services.find(path)?.operation('POST')?.service;
    expect(ownerOf('/api/v1/incidents')).toBe('incident');
    expect(ownerOf('/api/v1/incidents/5/close/now')).toBe('incident');
    expect(ownerOf('/api/v1/settings/webhooks/1')).toBe('webhook');
    for (const path of [
      '/api/v1/settings',
      '/api/v1/settings/other',
      '/api/v1/settings/keys/1/rotate',
      '/api/v1/incidentsx',
      '/api/v1/incidents/../x',
    ])
      expect(services.find(path)).toBeUndefined();
  });

  test.each(['/api/v1/incidents', '/api/v1/incidents/archived', '/api/v1/{any}'])(
    'another service must not have %s',
    (path) => {
      const other = { ...operation('POST', path, 'other'), service: 'catalog' };
      expect(() => routeTable([operation('GET', '/api/v1/incidents/{id}'), other])).toThrow(
        /^other of the catalog service is below \/api\/v1\/incidents\/, which the incident service has$/,
      );
    },
  );
});
