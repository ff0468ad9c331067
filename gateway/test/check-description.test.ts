import { describe, expect, test } from '@jest/globals';
import { SERVICE_NAMES } from '@tocsin/contracts';
import { readBakedApi } from '../src/http/baked-api.ts';
import { checkDescription, MAX_DESCRIPTION_BYTES } from '../src/http/check-description.ts';
import { parseDescription } from '../src/http/service-descriptions.ts';
import { sampleDescriptions } from './gateway-harness.ts';

const PATH = '/api/v1/incidents';
/** An object of any shape, to be damaged. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;

const check = async (value: unknown) => checkDescription('incident', Buffer.from(JSON.stringify(value)));
const sample = (): Any => structuredClone(sampleDescriptions().incident);
const damaged = (change: (description: Any, list: Any) => unknown) => {
  const description = sample();
  change(description, description.paths[PATH].get);
  return description;
};

describe('a description of a service', () => {
  test('gives the operations', async () => {
    const { operations } = await checkDescription('catalog', Buffer.from(JSON.stringify(sampleDescriptions().catalog)));
    expect(operations).toContainEqual({
      id: 'createTeam',
      method: 'POST',
      path: '/api/v1/teams',
      service: 'catalog',
      scope: 'teams:write',
      needs: ['active_responder', 'manage_teams'],
      deadline: 10_000,
      deprecation: { since: '2026-01-01T00:00:00Z', sunset: '2026-12-01T00:00:00Z', successor: '/api/v1/groups' },
    });
  });

  test('of this release passes, and uses at most half of what is allowed', async () => {
    const { descriptions, operations } = await readBakedApi(SERVICE_NAMES);
    expect(operations.length).toBeGreaterThan(50);
    for (const { bytes, service } of descriptions) {
      expect(bytes.length).toBeLessThan(MAX_DESCRIPTION_BYTES / 2);
      const doubled: Any = parseDescription(bytes);
      for (const [path, methods] of Object.entries<Any>(doubled.paths)) {
        const again = structuredClone(methods);
        for (const operation of Object.values<Any>(again)) operation.operationId += '2';
        doubled.paths[`${path}/again`] = again;
      }
      await checkDescription(service, Buffer.from(JSON.stringify(doubled)));
    }
  });

  test('may have scopes and prerequisites that the gateway does not know', async () => {
    const description = damaged((_, list) => {
      list['x-tocsin-scope'] = 'audits:read';
      list['x-tocsin-prerequisites'] = ['manage_audits'];
      list['x-newer'] = { anything: true };
    });
    expect((await check(description)).operations[0]).toMatchObject({ scope: 'audits:read', needs: ['manage_audits'] });
  });

  test.each<[string, RegExp, (description: Any, list: Any) => unknown]>([
    ['another version of OpenAPI', /^it is not a description: "openapi"/, (d) => (d.openapi = '2.0')],
    ['no paths', /paths/, (d) => delete d.paths],
    ['a path outside of the API', /must begin with/, (d) => (d.paths['/healthz'] = d.paths[PATH])],
    ['a path with a dot segment', /must begin with/, (d) => (d.paths[`${PATH}/../teams`] = d.paths[PATH])],
    ['an encoded path', /must begin with/, (d) => (d.paths['/api/v1/%69'] = d.paths[PATH])],
    ['a path with an empty segment', /must begin with/, (d) => (d.paths['/api/v1//x'] = d.paths[PATH])],
    [
      'a path with part of a segment as parameter',
      /must begin with/,
      (d) => (d.paths['/api/v1/x{id}'] = d.paths[PATH]),
    ],
    ['a path that is too long', /paths/, (d) => (d.paths[`/api/v1/${'x'.repeat(250)}`] = d.paths[PATH])],
    ['an unknown method', /paths.*trace/, (d) => (d.paths[PATH].trace = d.paths[PATH].get)],
    ['what is not a method', /paths.*servers/, (d) => (d.paths[PATH].servers = [])],
    ['no scope', /x-tocsin-scope/, (_, list) => delete list['x-tocsin-scope']],
    ['an empty scope', /x-tocsin-scope/, (_, list) => (list['x-tocsin-scope'] = '')],
    ['no prerequisites', /x-tocsin-prerequisites/, (_, list) => delete list['x-tocsin-prerequisites']],
    ['no deadline', /x-deadline-seconds/, (_, list) => delete list['x-deadline-seconds']],
    ['a deadline of an hour', /x-deadline-seconds/, (_, list) => (list['x-deadline-seconds'] = 3_600)],
    ['a deadline of zero', /x-deadline-seconds/, (_, list) => (list['x-deadline-seconds'] = 0)],
    ['a cost that refunds', /x-tocsin-cost/, (_, list) => (list['x-tocsin-cost'] = { base: 1, parameters: { q: -5 } })],
    ['no base of the cost', /x-tocsin-cost/, (_, list) => (list['x-tocsin-cost'] = { base: 0 })],
    ['a cost without end', /x-tocsin-cost/, (_, list) => (list['x-tocsin-cost'] = { base: 1e9 })],
    [
      'a successor that breaks a header',
      /x-tocsin-deprecation/,
      (_, list) =>
        (list['x-tocsin-deprecation'] = {
          since: '2026-01-01T00:00:00Z',
          sunset: '2026-02-01T00:00:00Z',
          successor: '/a\r\nX: y',
        }),
    ],
    [
      'a sunset that is no time',
      /x-tocsin-deprecation/,
      (_, list) =>
        (list['x-tocsin-deprecation'] = { since: '2026-01-01T00:00:00Z', sunset: 'soon', successor: '/api/v1/x' }),
    ],
    ['an ID that is no name', /operationId/, (_, list) => (list.operationId = 'list incidents"')],
    ['two operations with one ID', /same ID/, (d) => (d.paths[PATH].post.operationId = 'listIncidents')],
    ['an operation of another service', /of the webhook service/, (_, list) => (list['x-tocsin-service'] = 'webhook')],
    [
      'one method and path twice',
      /claim GET/,
      (d) => {
        const get = structuredClone(d.paths[`${PATH}/{id}`].get);
        get.operationId = 'another';
        get.parameters[0].name = 'key';
        d.paths[`${PATH}/{key}`] = { get };
      },
    ],
    ['an undeclared path parameter', /each parameter/, (d) => (d.paths[`${PATH}/{id}`].get.parameters = [])],
    [
      'a path parameter that is optional',
      /each parameter/,
      (d) => (d.paths[`${PATH}/{id}`].get.parameters[0].required = false),
    ],
    ['a path parameter twice', /each parameter/, (d) => (d.paths[`${PATH}/{id}/{id}`] = d.paths[`${PATH}/{id}`])],
    [
      'a parameter that is not in the path',
      /each parameter/,
      (_, list) => list.parameters.push({ name: 'id', in: 'path', required: true }),
    ],
    ['no responses', /responses/, (_, list) => (list.responses = {})],
    [
      'a response that is a schema',
      /responses.*#\/components\/responses/,
      (_, list) => (list.responses['404'] = { $ref: '#/components/schemas/Error' }),
    ],
    ['a reference to another host', /reference/, (_, list) => (list.requestBody = { $ref: 'https://evil.example/x' })],
    [
      'a reference without target',
      /reference/,
      (_, list) => (list.requestBody = { $ref: '#/components/schemas/None' }),
    ],
    [
      'a reference to a property of every object',
      /reference/,
      (_, list) => (list.requestBody = { $ref: '#/components/schemas/constructor' }),
    ],
    ['a component with a name of objects', /__proto__/, (d) => (d.components.schemas = JSON.parse('{"__proto__":{}}'))],
    [
      'too many operations',
      /it has \d+ paths/,
      (d) => {
        for (let count = 0; count < 260; count += 1) d.paths[`/api/v1/x${count}`] = {};
      },
    ],
    [
      'too many components',
      /members/,
      (d) => {
        for (let count = 0; count < 2_100; count += 1) d.components.schemas[`S${count}`] = {};
      },
    ],
    ['too many values', /too many values/, (d) => (d.values = Array.from({ length: 600_000 }, () => 0))],
  ])('is refused with %s', async (_, message, change) => {
    await expect(check(damaged(change))).rejects.toThrow(message);
  });

  test.each<[string, string, RegExp]>([
    ['nothing', '', /not JSON/],
    ['a page', '<html></html>', /not JSON/],
    ['half of one', JSON.stringify(sampleDescriptions().incident).slice(0, 1_000), /not JSON/],
    ['null', 'null', /not a description/],
    ['a list', '[]', /not a description/],
    ['deep lists', `{"openapi":"3.1.0","paths":{},"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /nested deeper/],
    ['more than two MiB', `{"x":"${'x'.repeat(MAX_DESCRIPTION_BYTES)}"}`, /bytes/],
  ])('is not %s', async (_, text, message) => {
    await expect(checkDescription('incident', Buffer.from(text))).rejects.toThrow(message);
  });

  test('the message of a refusal is short and has no line break', async () => {
    const description = damaged((d) => (d.paths[`/${'x\n'.repeat(5_000)}`] = d.paths[PATH]));
    const error = await check(description).catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message.length).toBeLessThan(500);
    expect((error as Error).message).not.toContain('\n');
  });
});

describe('the descriptions of a release', () => {
  test('must not claim the same paths', async () => {
    const { incident, catalog } = structuredClone(sampleDescriptions());
    catalog.paths['/api/v1/incidents/5'] = {
      get: { ...catalog.paths['/api/v1/services']!['get']!, operationId: 'another' },
    };
    await expect(readBakedApi(SERVICE_NAMES, { incident, catalog })).rejects.toThrow(
      'the catalog service describes GET /api/v1/incidents/5 (another), but the incident service owns it',
    );
  });
});
