import { describe, expect, test } from '@jest/globals';
import { claimsOf, settleClaims } from '../src/domain/claims.ts';
import type { Operation } from '../src/domain/route-table.ts';

const operation = (service: string, path: string, more: Partial<Operation> = {}): Operation => ({
  id: `${service} ${more.method} ${path}`,
  method: 'GET',
  path: `/api/v1/${path}`,
  service,
  scope: 'incidents:read',
  needs: [],
  deadline: 1_000,
  ...more,
});

const claims = (service: string, ...paths: string[]) => ({
  service,
  operations: paths.map((path) => operation(service, path)),
});

const settle = (all: Parameters<typeof settleClaims>[0], held?: Operation[]) => {
  const { operations, refused } = settleClaims(all, held);
  return {
    routed: operations.map(({ service, path }) => `${service} ${path.slice('/api/v1/'.length)}`),
    refused: refused.map(
      ({ operation: { service, path }, holder }) => `${service} ${path.slice('/api/v1/'.length)} (${holder})`,
    ),
  };
};

describe('claims of services', () => {
  test('services share the beginning of a path, but no prefix', () => {
    const { routed, refused } = settle([
      claims('incident', 'incidents', 'incidents/{id}', 'configuration/severities'),
      claims('catalog', 'teams/{id}', 'configuration/service-tiers'),
    ]);
    expect(routed).toHaveLength(5);
    expect(refused).toEqual([]);
  });

  test.each([
    ['the same path', 'incidents'],
    ['the same path with another parameter', 'incidents/{key}'],
    ['a literal in the place of a parameter', 'incidents/5'],
    ['a path below', 'incidents/{id}/secrets'],
    ['a literal path below', 'incidents/archived/old'],
    ['a parameter that matches a prefix', 'configuration/{part}'],
    ['the beginning of a prefix', 'configuration'],
  ])('a newcomer does not get %s', (_, path) => {
    const held = [claims('incident', 'incidents', 'incidents/{id}', 'configuration/severities')];
    for (const method of ['GET', 'PUT']) {
      const newcomer = { service: 'webhook', operations: [operation('webhook', path, { method })] };
      expect(settle([newcomer, ...held], held[0]!.operations).refused).toEqual([`webhook ${path} (incident)`]);
    }
  });

  test.each(['openapi.json', 'openapi.json/{part}', '{anything}'])(
    'nobody gets what the gateway serves: %s',
    (path) => {
      expect(settle([claims('incident', path)]).refused).toEqual([`incident ${path} (gateway)`]);
    },
  );

  test('an ID belongs to the service that has it', () => {
    const first = { service: 'incident', operations: [operation('incident', 'incidents', { id: 'list' })] };
    const second = { service: 'catalog', operations: [operation('catalog', 'teams', { id: 'list' })] };
    expect(settle([first, second]).refused).toEqual(['catalog teams (incident)']);
  });

  test('of two newcomers the first gets a prefix; the holder keeps it, whatever the order', () => {
    const [incident, catalog] = [claims('incident', 'notes'), claims('catalog', 'notes')];
    expect(settle([incident, catalog]).routed).toEqual(['incident notes']);
    expect(settle([incident, catalog], catalog.operations).routed).toEqual(['catalog notes']);
  });

  test('the holder keeps a prefix when it replaces all of its paths there', () => {
    const held = claims('catalog', 'notes').operations;
    const { routed } = settle([claims('incident', 'notes'), claims('catalog', 'notes/{id}')], held);
    expect(routed).toEqual(['catalog notes/{id}']);
  });

  test('a prefix that nobody describes any more is free', () => {
    const held = claims('catalog', 'notes').operations;
    expect(settle([claims('catalog', 'teams'), claims('incident', 'notes')], held)).toEqual({
      routed: ['catalog teams', 'incident notes'],
      refused: [],
    });
  });

  test('a refused operation does not take the others of its service with it', () => {
    const { routed } = settle([claims('incident', 'incidents'), claims('catalog', 'incidents/{id}', 'teams')]);
    expect(routed).toEqual(['incident incidents', 'catalog teams']);
  });
});

describe('claims of one service with several editions', () => {
  test('are the union; the first edition describes what both have, whatever a parameter is called', () => {
    const newer = [operation('catalog', 'teams/{teamId}', { id: 'new' }), operation('catalog', 'groups')];
    const older = [operation('catalog', 'teams/{id}', { id: 'old' }), operation('catalog', 'tiers')];
    const { operations } = claimsOf('catalog', [{ operations: newer }, { operations: older }]);
    expect(operations.map(({ path }) => path)).toEqual(['/api/v1/teams/{teamId}', '/api/v1/groups', '/api/v1/tiers']);
  });
});
