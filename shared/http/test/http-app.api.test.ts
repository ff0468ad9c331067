import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { createLogger, createMetrics, openKeyring } from '@tocsin/runtime';
import { asService, asUser, type Client, httpClient, TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import {
  httpApp,
  type HttpServer,
  internalRoute,
  listen,
  MAX_BODY_BYTES,
  pathId,
  PRINCIPAL_PURPOSE,
  route,
} from '../src/index.ts';

const shared = { tag: 'Things', scope: 'teams:write', summary: '' } as const;
const routes = [
  route({
    ...shared,
    id: 'createThing',
    method: 'post',
    path: '/things',
    idempotent: true,
    body: z.strictObject({ name: z.string(), nested: z.strictObject({ list: z.array(z.int()) }).optional() }),
    reply: { status: 201, body: z.unknown(), versioned: true },
    handle: async ({ body }) => ({ body: { thing: body }, revision: 1 }),
  }),
  route({
    ...shared,
    id: 'updateThing',
    method: 'patch',
    path: '/things/{id}',
    params: z.strictObject({ id: pathId }),
    precondition: true,
    body: z.strictObject({ name: z.string().optional() }),
    reply: { status: 200, body: z.unknown() },
    handle: async ({ params, expectedRevision }) => ({ body: { id: params.id, expectedRevision } }),
  }),
  route({
    ...shared,
    id: 'touchThing',
    method: 'post',
    path: '/things/{id}/touch',
    params: z.strictObject({ id: pathId }),
    reply: { status: 204 },
    handle: async () => ({}),
  }),
  route({
    ...shared,
    id: 'wordedThing',
    method: 'post',
    path: '/worded',
    body: z.strictObject({ word: z.string() }),
    bodyFault: 'invalid_slack_channel_name_request',
    reply: { status: 204 },
    handle: async () => ({}),
  }),
  route({
    ...shared,
    id: 'failThing',
    method: 'get',
    path: '/fail',
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-06-01T00:00:00Z', successor: '/things' },
    reply: { status: 200, body: z.unknown() },
    handle: async () => {
      throw new Error('postgres://user:hunter2@db/ is broken');
    },
  }),
  route({
    ...shared,
    id: 'slowThing',
    method: 'get',
    path: '/slow',
    reply: { status: 200, body: z.unknown() },
    handle: async () => {
      throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    },
  }),
  route({
    ...shared,
    id: 'oldThing',
    method: 'get',
    path: '/old/{id}',
    params: z.strictObject({ id: pathId }),
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-06-01T00:00:00Z', successor: '/things/{id}' },
    reply: { status: 200, body: z.unknown() },
    handle: async () => ({ body: {} }),
  }),
];

let server: HttpServer;
let client: Client;
const logged: string[] = [];

beforeAll(async () => {
  const app = httpApp({
    routes,
    internalRoutes: [
      internalRoute({
        path: '/internal/changes',
        query: z.strictObject({ since: z.int() }),
        handle: async ({ since }) => ({ since }),
      }),
    ],
    dependencies: [{ name: 'moon', vital: false, check: async () => false }],
    keyring: openKeyring(TEST_SECRET_KEYS, PRINCIPAL_PURPOSE),
    log: createLogger({ app: 'test', level: 'info', destination: { write: (line: string) => void logged.push(line) } }),
    metrics: createMetrics('test'),
    checkReplies: true,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  client = httpClient(server.url, asUser());
});
afterAll(async () => server.close());

const outcome = ({ status, body }: { status: number; body: { code?: string; field?: string } }) =>
  `${status} ${body.code}${body.field === undefined ? '' : ` ${body.field}`}`;

describe('a body', () => {
  test.each<[string, unknown, string]>([
    ['an unknown property', { name: 'a', nmae: 'b' }, '400 unknown_field nmae'],
    ['an unknown property within', { name: 'a', nested: { list: [], x: 1 } }, '400 unknown_field nested.x'],
    ['a property called __proto__', '{"name":"a","__proto__":{}}', '400 unknown_field __proto__'],
    ['a wrong type', { name: 1 }, '400 invalid_request name'],
    ['a wrong type within', { name: 'a', nested: { list: [1, 'x'] } }, '400 invalid_request nested.list.1'],
    ['a missing property', {}, '400 invalid_request name'],
    ['U+0000', { name: 'a\0' }, '400 invalid_request name'],
    ['an unpaired surrogate', '{"name":"\\ud800"}', '400 invalid_request name'],
    ['an integer past 2^53', { name: 'a', nested: { list: [2 ** 53] } }, '400 invalid_request nested.list.0'],
    ['a list', [], '400 invalid_request'],
    ['null', 'null', '400 invalid_request'],
    ['no JSON', '{name}', '400 invalid_json'],
    ['nothing', '', '400 invalid_json'],
    ['two documents', '{}{}', '400 multiple_json_values'],
  ])('with %s is refused', async (_what, body, expected) => {
    expect(outcome(await client.post('/things', body))).toBe(expected);
  });

  test('of 1 MiB is taken, one byte more is not', async () => {
    const frame = '{"name":""}'.length;
    const body = (size: number) => `{"name":"${'a'.repeat(size - frame)}"}`;
    expect((await client.post('/things', body(MAX_BODY_BYTES))).status).toBe(201);
    expect(outcome(await client.post('/things', body(MAX_BODY_BYTES + 1)))).toBe('413 request_body_too_large');
  });

  test('without announced length is cut off at 1 MiB, while it streams', async () => {
    const answer = await rawRequest(
      ['POST /things HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
      (socket) => {
        const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
        for (let sent = 0; sent < 20; sent += 1) socket.write(chunk);
      },
    );
    expect(answer).toContain('HTTP/1.1 413');
    expect(answer).toContain('request_body_too_large');
  });

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=latin1', {}],
    ['application/json', { 'Content-Encoding': 'gzip' }],
  ])('as %s %j is not supported', async (type, headers) => {
    expect(outcome(await client.post('/things', '{"name":"a"}', { 'Content-Type': type, ...headers }))).toBe(
      '415 unsupported_media_type Content-Type',
    );
  });

  test('may be missing where an operation takes none', async () => {
    expect((await client.post('/things/1/touch')).status).toBe(204);
    expect((await client.post('/things/1/touch', {})).status).toBe(204);
    expect(outcome(await client.post('/things/1/touch', { a: 1 }))).toBe('400 unknown_field a');
  });
});

describe('headers', () => {
  test.each(['', 'a b', 'é', 'x'.repeat(129)])('Idempotency-Key %j is malformed', async (key) => {
    const headers = { 'Idempotency-Key': key };
    expect(outcome(await client.post('/things', { name: 'a' }, headers))).toBe(
      '400 invalid_idempotency_key Idempotency-Key',
    );
  });

  test.each(['0', '-1', '+1', '01', '1.0', '"1"', 'x', '9007199254740992', ''])(
    'revision %j is malformed',
    async (revision) => {
      const answer = await client.patch('/things/1', {}, { 'If-Service-Resource-Version': revision });
      expect(outcome(answer)).toBe('400 invalid_precondition If-Service-Resource-Version');
    },
  );

  test('the revision is wanted, and told before the body is looked at', async () => {
    expect(outcome(await client.patch('/things/1', '{'))).toBe('428 precondition_required If-Service-Resource-Version');
    expect(outcome(await client.patch('/things/x', '{'))).toBe('400 invalid_request id');
  });

  test('the request ID is kept, or replaced when it is none', async () => {
    const kept = await client.post('/things', {}, { 'X-Request-ID': 'abc-123' });
    expect(kept.body.request_id).toBe('abc-123');
    const replaced = await client.post('/things', {}, { 'X-Request-ID': 'a b' });
    expect(replaced.body.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a deprecated operation says so, and what comes after it', async () => {
    const { headers } = await client.get('/old/7');
    expect(headers.get('Deprecation')).toBe('@1795132800');
    expect(headers.get('Sunset')).toBe('Tue, 01 Jun 2027 00:00:00 GMT');
    expect(headers.get('Link')).toBe('</things/7>; rel="successor-version"');
    const refused = await client.get('/old/seven');
    expect(refused.status).toBe(400);
    expect(refused.headers.get('Deprecation')).toBe('@1795132800');
  });

  test('a body that breaks its schema is told by the code of the route, an unknown property always as one', async () => {
    const wrong = await client.post('/worded', { word: 7 });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_slack_channel_name_request', field: 'word' } });
    const unknown = await client.post('/worded', { word: 'x', other: 1 });
    expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_field', field: 'other' } });
  });
});

describe('who asks', () => {
  test.each([
    ['nobody', {}],
    ['a service, for a user', asService()],
    ['a forged principal', { 'x-tocsin-principal': asUser()['x-tocsin-principal'].replace(/.$/, '.') }],
    ['garbage', { 'x-tocsin-principal': 'e30.e30' }],
  ])('%s is turned away', async (_who, headers) => {
    expect(outcome(await httpClient(server.url, headers).post('/things', { name: 'a' }))).toBe(
      '401 authentication_required',
    );
  });

  test('internal routes are for services only', async () => {
    expect((await client.get('/internal/changes?since=1')).status).toBe(401);
    expect((await httpClient(server.url, asService()).get('/internal/changes?since=1')).body).toEqual({ since: 1 });
  });
});

test('a fault of ours is told without detail, and logged once with the request ID', async () => {
  const { status, text, body } = await client.get('/fail', { 'X-Request-ID': 'fault-1' });
  expect(status).toBe(500);
  expect(text).not.toContain('hunter2');
  expect(body).toMatchObject({ code: 'internal', request_id: 'fault-1' });
  expect(logged.filter((line) => line.includes('fault-1'))).toHaveLength(1);
});

test('a statement that outlives its time is worth another try, and no fault', async () => {
  const { status, body, headers } = await client.get('/slow');
  expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'service_unavailable', '1']);
});

test('an app is ready without what is not vital', async () => {
  expect((await client.get('/readyz')).body).toEqual({ status: 'ready', dependencies: { moon: 'down' } });
});

test('requests under way finish when the app stops', async () => {
  let arrived: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (arrived = resolve));
  let finish: () => void = () => undefined;
  const wait = new Promise<void>((resolve) => (finish = resolve));
  const slow = await listen(
    (_request, response) => {
      arrived();
      void wait.then(() => response.end('{"done":true}'));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const answer = httpClient(slow.url).get('/');
  await started;
  const closed = slow.close();
  finish();
  expect((await answer).body).toEqual({ done: true });
  await closed;
});

/** Speaks HTTP by hand, for what no client would send; answers what came back up to the end of the JSON body. */
async function rawRequest(head: string[], body: (socket: ReturnType<typeof connect>) => void): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  const answered = new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.endsWith('}')) resolve();
    });
  });
  const principal = asUser()['x-tocsin-principal'];
  socket.write(`${[...head, `x-tocsin-principal: ${principal}`].join('\r\n')}\r\n\r\n`);
  body(socket);
  await answered;
  socket.destroy();
  return answer;
}
