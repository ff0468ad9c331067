import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Answer } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import fc from '@tocsin/testing/fuzz';
import { APP_NAMES, type AppName, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { running, runningSystem } from './running.ts';

/** In total. */
const REQUESTS = 5_000;
const AT_ONCE = 8;
/** The accepted statuses. All apps are running, so 503 is a failure as well. */
const GOOD = new Set([200, 201, 202, 204, 400, 403, 404, 405, 409, 412, 413, 415, 428, 431]);

interface Operation {
  method: string;
  path: string;
  parameters: { name: string; in: string }[];
  properties: string[];
  /** Valid values for the required properties of the body. */
  plausible: Record<string, unknown>;
}

interface OddRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
  required?: string[];
}

interface Description {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

interface Described {
  parameters?: Operation['parameters'];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

const PLAUSIBLE: Record<string, unknown> = {
  field_type: 'json',
  url: 'https://hooks.example.com/x',
  user_id: 1,
  email: 'plausible@acme.example',
  scopes: ['teams:read'],
  values: [],
};

async function operationsOf(service: AppName): Promise<Operation[]> {
  const text = await readFile(path.join(ROOT, APPS[service].folder, 'openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as Description;
  const resolve = (schema: Schema = {}) => components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const { properties = {}, required = [] } = resolve(requestBody?.content['application/json'].schema);
      return {
        method: method.toUpperCase(),
        path: template,
        parameters,
        properties: Object.keys(properties),
        plausible: Object.fromEntries(required.map((name) => [name, PLAUSIBLE[name] ?? 'plausible'])),
      };
    }),
  );
}

const oddText = fc.oneof(
  fc.constantFrom('', ' ', '0', '1', '2', '-1', '1.5', '1e3', '01', '9007199254740993', '9'.repeat(30), 'true', 'null'),
  fc.constantFrom(
    'a\0b',
    '\uFFFF',
    'ﬁ',
    'İ',
    '😀'.repeat(9),
    'e\u0301',
    '\u202E',
    '%',
    '_',
    "'",
    '";--',
    '../..',
    '__proto__',
  ),
  fc.constantFrom(
    '2026-11-20T09:30:00Z',
    '2026-02-30T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:60Z',
    '2026-11-20',
  ),
  fc.constantFrom(
    'open',
    'sev1',
    'custom',
    'number',
    'string',
    'select',
    'multi_select',
    'monetary',
    'json',
    't1',
    'incident.created',
  ),
  fc.constantFrom(
    'https://hooks.example.com/x',
    'https://localhost',
    'http://[::1]/',
    'https://user@host/',
    'eyJhIjoxfQ',
    'x'.repeat(300),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const oddJson = fc.oneof(
  { weight: 4, arbitrary: oddText },
  fc.constantFrom(
    null,
    true,
    false,
    0,
    1,
    2,
    -1,
    0.1,
    1e21,
    -0,
    2 ** 53,
    1e308,
    [],
    {},
    [[]],
    [null],
    ['a', 'A'],
    [1, 1],
  ),
  fc.array(oddText, { maxLength: 3 }),
  fc.dictionary(oddText, oddText, { maxKeys: 3 }),
  fc.constant([{ field_id: 1, value: 'x' }]),
  fc.constant([{ slug: 'constructor', value: { amount: 1, currency: 'EUR' } }]),
  fc.constant({ options: ['a', { value: 'b' }], min: 3, max: 1, precision: 99 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Lone surrogates cannot be percent-encoded. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
const headerSafe = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?');

function oddRequest(operation: Operation): fc.Arbitrary<OddRequest> {
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const id = fc.oneof(fc.constantFrom('1', '2', '3', '4'), oddText.map(encoded));
  const query = fc.array(fc.tuple(fc.constantFrom(...names, 'limit', 'nonsense'), oddText), {
    maxLength: names.length === 0 ? 1 : 4,
  });
  const some = fc.dictionary(fc.constantFrom(...operation.properties, 'name', 'title'), oddJson, { maxKeys: 3 });
  const body = fc.oneof(
    { weight: 4, arbitrary: some.map((value) => JSON.stringify({ ...operation.plausible, ...value })) },
    { weight: 4, arbitrary: some.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: oddJson.map((value) => JSON.stringify(value)) },
    fc.constantFrom(
      '',
      '{',
      '{}{}',
      '\uFEFF{}',
      '[[[['.repeat(500),
      '{"a":1e999}',
      '{"__proto__":1}',
      '{"title":"\\ud800"}',
    ),
  );
  const headers = fc.record(
    {
      'Idempotency-Key': oddText.map(headerSafe),
      'If-Service-Resource-Version': fc.oneof(fc.constantFrom('1', '2'), oddText.map(headerSafe)),
      'X-Request-ID': oddText.map(headerSafe),
      'Content-Type': fc.oneof(
        { weight: 9, arbitrary: fc.constant('application/json') },
        fc.constantFrom('application/json; charset=utf-8', 'text/plain', ''),
      ),
    },
    {
      requiredKeys: ['PATCH', 'PUT'].includes(operation.method)
        ? ['If-Service-Resource-Version', 'Content-Type']
        : ['Content-Type'],
    },
  );
  return fc.record({ ids: fc.array(id, { minLength: 2, maxLength: 2 }), query, body, headers }).map((odd) => {
    let next = 0;
    const filled = operation.path.replaceAll(/\{\w+\}/g, () => odd.ids[next++] ?? '1');
    const search = odd.query.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
    return {
      method: operation.method,
      path: search === '' ? filled : `${filled}?${search}`,
      headers: odd.headers,
      body: operation.method === 'GET' ? undefined : odd.body,
    };
  });
}

describeWithServers('any request of a client', () => {
  const system = runningSystem();
  const client = running(async () => {
    // The requests name users and keys with these IDs, and may deactivate and revoke them.
    for (let id = 1; id <= 4; id += 1) await system.as({ role: 'viewer', seat: 'none' });
    return system.as();
  });
  beforeAll(async () => {
    await client.post('/api/v1/teams', { name: 'Team' });
    await client.post('/api/v1/services', { name: 'Service', owner_team_id: 1 });
    await client.post('/api/v1/custom-fields', { name: 'Number', field_type: 'number' });
    await client.post('/api/v1/custom-fields', { name: 'Choice', field_type: 'select', config: { options: ['a'] } });
    for (const title of ['one', 'two', 'three']) await client.post('/api/v1/incidents', { title });
    await client.post('/api/v1/incidents/1/timeline', { body: 'first' });
  });

  const send = async ({ method, path: target, headers, body }: OddRequest): Promise<Answer> => {
    const own = client.with(headers);
    if (method === 'GET') return own.get(target);
    if (method === 'DELETE') return own.delete(target);
    if (method === 'PATCH') return own.patch(target, body);
    return method === 'PUT' ? own.put(target, body) : own.post(target, body);
  };

  test(`gets a response without a server error: ${REQUESTS} odd requests over all routes`, async () => {
    const operations = (await Promise.all(APP_NAMES.map(operationsOf))).flat();
    const anything = fc.constantFrom(...operations).chain(oddRequest);
    const seed = Date.now() % 2 ** 31;
    const requests = fc.sample(anything, { numRuns: REQUESTS, seed });
    const statuses = new Map<number, number>();

    const work = async () => {
      for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
        const { status, body } = await send(request);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!GOOD.has(status)) throw new Error(JSON.stringify({ seed, request, status, body }));
        if (status >= 400) {
          expect(body).toMatchObject({
            code: expect.any(String),
            message: expect.any(String),
            request_id: expect.any(String),
          });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));

    expect([...statuses.values()].reduce((sum, count) => sum + count)).toBe(REQUESTS);
    // The requests were not all refused early: every kind of outcome occurred.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409]));
  });
});
