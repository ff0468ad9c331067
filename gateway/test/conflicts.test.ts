import { describe, expect, test } from '@jest/globals';
import { resolveConflicts, unionOf } from '../src/domain/conflicts.ts';
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

const described = (service: string, ...paths: string[]) => paths.map((path) => operation(service, path));

const resolve = (all: Operation[][], routed?: Operation[]) => {
  const { operations, conflicts } = resolveConflicts(all.flat(), routed);
  return {
    routed: operations.map(({ service, path }) => `${service} ${path.slice('/api/v1/'.length)}`),
    refused: conflicts.map(
      ({ operation: { service, path }, owner }) => `${service} ${path.slice('/api/v1/'.length)} (${owner})`,
    ),
  };
};

describe('operations of several services', () => {
  test('services share the beginning of a path, but no prefix', () => {
    const { routed, refused } = resolve([
      described('incident', 'incidents', 'incidents/{id}', 'configuration/severities'),
      described('catalog', 'teams/{id}', 'configuration/service-tiers'),
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
    const held = described('incident', 'incidents', 'incidents/{id}', 'configuration/severities');
    for (const method of ['GET', 'PUT']) {
      const newcomer = [operation('webhook', path, { method })];
      expect(resolve([newcomer, held], held).refused).toEqual([`webhook ${path} (incident)`]);
    }
  });

  test.each(['openapi.json', 'openapi.json/{part}', '{anything}'])(
    'nobody gets what the gateway serves: %s',
    (path) => {
      expect(resolve([described('incident', path)]).refused).toEqual([`incident ${path} (gateway)`]);
    },
  );

  test('an ID belongs to the service that has it', () => {
    const first = [operation('incident', 'incidents', { id: 'list' })];
    const second = [operation('catalog', 'teams', { id: 'list' })];
    expect(resolve([first, second]).refused).toEqual(['catalog teams (incident)']);
  });

  test('of two newcomers the first gets a prefix; the holder keeps it, whatever the order', () => {
    const [incident, catalog] = [described('incident', 'notes'), described('catalog', 'notes')];
    expect(resolve([incident, catalog]).routed).toEqual(['incident notes']);
    expect(resolve([incident, catalog], catalog).routed).toEqual(['catalog notes']);
  });

  test('the holder keeps a prefix when it replaces all of its paths there', () => {
    const held = described('catalog', 'notes');
    const { routed } = resolve([described('incident', 'notes'), described('catalog', 'notes/{id}')], held);
    expect(routed).toEqual(['catalog notes/{id}']);
  });

  test('a prefix that nobody describes any more is free', () => {
    const held = described('catalog', 'notes');
    expect(resolve([described('catalog', 'teams'), described('incident', 'notes')], held)).toEqual({
      routed: ['catalog teams', 'incident notes'],
      refused: [],
    });
  });

  test('a refused operation does not take the others of its service with it', () => {
    const { routed } = resolve([described('incident', 'incidents'), described('catalog', 'incidents/{id}', 'teams')]);
    expect(routed).toEqual(['incident incidents', 'catalog teams']);
  });
});

describe('operations of one service with several versions', () => {
  test('are the union; the first version describes what both have, whatever a parameter is called', () => {
    const newer = [operation('catalog', 'teams/{teamId}', { id: 'new' }), operation('catalog', 'groups')];
    const older = [operation('catalog', 'teams/{id}', { id: 'old' }), operation('catalog', 'tiers')];
    const union = unionOf([{ operations: newer }, { operations: older }]);
    expect(union.map(({ path }) => path)).toEqual(['/api/v1/teams/{teamId}', '/api/v1/groups', '/api/v1/tiers']);
  });
});
