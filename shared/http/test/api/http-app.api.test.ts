import { afterAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { createLogger, currentDryRun, runDry } from '@tocsin/runtime';
import { asService, asUser, httpClient, serve, TEST_SECRET_KEYS, testApp } from '@tocsin/testing';
import { z } from 'zod';
import {
  type Contracts,
  implement,
  internalClient,
  internalCommand,
  internalRoute,
  type HttpLimits,
  MAX_BODY_BYTES,
  pathId,
  openPrincipalVerifier,
} from '../../src/index.ts';

const shared = { tag: 'Things', scope: 'teams:write', summary: '' } as const;
const contracts = {
  createThing: {
    ...shared,
    method: 'post',
    path: '/things',
    idempotent: true,
    body: z.strictObject({ name: z.string(), nested: z.strictObject({ list: z.array(z.int()) }).optional() }),
    reply: { status: 201, body: z.unknown(), versioned: true, assigned: ['thing.id', 'thing.secret.text'] },
  },
  updateThing: {
    ...shared,
    method: 'patch',
    path: '/things/{id}',
    params: z.strictObject({ id: pathId }),
    precondition: true,
    body: z.strictObject({ name: z.string().optional() }),
    reply: { status: 200, body: z.unknown() },
  },
  touchThing: {
    ...shared,
    method: 'post',
    path: '/things/{id}/touch',
    params: z.strictObject({ id: pathId }),
    reply: { status: 204 },
  },
  guardedThing: {
    ...shared,
    method: 'post',
    path: '/guarded',
    needs: ['active_responder', 'manage_teams'],
    reply: { status: 204 },
  },
  wordedThing: {
    ...shared,
    method: 'post',
    path: '/worded',
    body: z.strictObject({ word: z.string() }),
    bodyFault: 'invalid_slack_channel_name_request',
    reply: { status: 204 },
  },
  failThing: {
    ...shared,
    method: 'get',
    path: '/fail',
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-06-01T00:00:00Z', successor: '/things' },
    reply: { status: 200, body: z.unknown() },
  },
  oldThing: {
    ...shared,
    method: 'get',
    path: '/old/{id}',
    params: z.strictObject({ id: pathId }),
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-06-01T00:00:00Z', successor: '/things/{id}' },
    reply: { status: 200, body: z.unknown() },
  },
} as const satisfies Contracts;

const routes = implement(contracts, {
  createThing: async ({ body, query, idempotencyKey }) => ({
    body: { thing: { ...body, id: 1, dry: currentDryRun() !== undefined }, query, idempotencyKey },
    revision: 1,
  }),
  updateThing: async ({ params, expectedRevision }) => ({ body: { id: params.id, expectedRevision } }),
  touchThing: async () => ({}),
  guardedThing: async () => ({}),
  wordedThing: async () => ({}),
  failThing: async () => {
    throw new Error('postgres://user:hunter2@db/ is broken');
  },
  oldThing: async () => ({ body: {} }),
});

const logged: string[] = [];

const openApp = (limits?: HttpLimits) =>
  testApp({
    routes,
    internalRoutes: [
      internalRoute({
        path: '/internal/changes',
        callers: ['one'],
        query: z.strictObject({ since: z.int() }),
        handle: async ({ since }) => ({ since }),
      }),
      internalCommand({
        path: '/internal/changes',
        callers: ['one'],
        body: z.strictObject({}),
        handle: async () => ({ dry: currentDryRun() !== undefined }),
      }),
    ],
    readinessChecks: [{ name: 'moon', required: false, check: async () => false }],
    principals: openPrincipalVerifier({ secretKeys: TEST_SECRET_KEYS, audience: 'test', callers: ['one', 'other'] }),
    log: createLogger({ app: 'test', level: 'info', destination: { write: (line: string) => void logged.push(line) } }),
    checkReplies: true,
    ...(limits !== undefined && { limits }),
  });

const server = await serve(openApp());
const client = httpClient(server.url, asUser('test'));
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
    ['invalid JSON', '{name}', '400 invalid_json'],
    ['no content', '', '400 invalid_json'],
    ['two documents', '{}{}', '400 multiple_json_values'],
  ])('with %s is rejected', async (_what, body, expected) => {
    expect(outcome(await client.post('/things', body))).toBe(expected);
  });

  test('of 1 MiB is accepted, one byte more is not', async () => {
    const frame = '{"name":""}'.length;
    const body = (size: number) => `{"name":"${'a'.repeat(size - frame)}"}`;
    expect((await client.post('/things', body(MAX_BODY_BYTES))).status).toBe(201);
    expect(outcome(await client.post('/things', body(MAX_BODY_BYTES + 1)))).toBe('413 request_body_too_large');
  });

  test('has the limit of the installation, which the error names', async () => {
    const other = await serve(openApp({ bodyBytes: 200_000, idempotencyHours: 24 }));
    try {
      const body = { name: 'a'.repeat(200_001 - '{"name":""}'.length) };
      const { status, body: error } = await httpClient(other.url, asUser('test')).post('/things', body);
      expect([status, error]).toMatchObject([
        413,
        { code: 'request_body_too_large', message: 'The body must be at most 200000 bytes' },
      ]);
    } finally {
      await other.close();
    }
  });

  test('without Content-Length is rejected at 1 MiB, while it streams', async () => {
    const answer = await rawRequest(
      ['POST /things HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
      (socket) => {
        const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
        for (let sent = 0; sent < 20; sent += 1) socket.write(chunk);
      },
    );
    // A proxy must not send its next request where the rest of the body belongs.
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/);
    expect(answer).toContain('request_body_too_large');
  });

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=latin1', {}],
    ['application/json', { 'Content-Encoding': 'gzip' }],
  ])('as %s %j is not supported', async (type, headers) => {
    expect(outcome(await client.post('/things', '{"name":"a"}', { 'Content-Type': type, ...headers }))).toBe(
      `415 unsupported_media_type ${Object.keys(headers)[0] ?? 'Content-Type'}`,
    );
  });

  test.each(['HTTP/1.0', 'HTTP/1.1'])(
    'of a connection that is not used again gets Connection: close: %s',
    async (version) => {
      const head = [`POST /things ${version}`, 'Host: x', 'Content-Type: application/json', 'Content-Length: 12'];
      const answer = await rawRequest([...head, ...(version === 'HTTP/1.1' ? ['Connection: close'] : [])], (socket) => {
        socket.write('{"name":"a"}');
      });
      expect(answer).toMatch(/^HTTP\/1\.1 201 [^]*\r\nConnection: close\r\n/);
    },
  );

  test('may be missing if the operation accepts none', async () => {
    expect((await client.post('/things/1/touch')).status).toBe(204);
    expect((await client.post('/things/1/touch', {})).status).toBe(204);
    expect(outcome(await client.post('/things/1/touch', { a: 1 }))).toBe('400 unknown_field a');
  });
});

describe('validate_only', () => {
  const key = { 'Idempotency-Key': 'k' };

  test('runs a write as a dry run, without its key, and nulls what the write assigns', async () => {
    const dry = await client.post('/things?validate_only=true', { name: 'a' }, key);
    expect([dry.status, dry.body]).toEqual([201, { thing: { name: 'a', id: null, dry: true }, query: {} }]);
    expect(['Validated-Only', 'Service-Resource-Version'].map((name) => dry.headers.get(name))).toEqual(['true', '1']);
    for (const query of ['', '?validate_only=false']) {
      const real = await client.post(`/things${query}`, { name: 'a' }, key);
      const thing = { name: 'a', id: 1, dry: false };
      expect([real.body, real.headers.get('Validated-Only')]).toEqual([
        { thing, query: {}, idempotencyKey: 'k' },
        null,
      ]);
    }
    const empty = await client.post('/things/1/touch?validate_only=true');
    expect([empty.status, empty.text, empty.headers.get('Validated-Only')]).toEqual([204, '', 'true']);
  });

  test('has no other values than true and false, and belongs to writes', async () => {
    for (const query of ['validate_only=1', 'validate_only', 'validate_only=true&validate_only=true']) {
      expect(outcome(await client.post(`/things?${query}`, { name: 'a' }))).toBe('400 invalid_request validate_only');
    }
    expect(outcome(await client.get('/old/1?validate_only=true'))).toBe('400 invalid_request validate_only');
    expect(outcome(await client.post('/things?validate=true', { name: 'a' }))).toBe('400 invalid_request validate');
  });

  test('makes the commands to other services dry runs there', async () => {
    const one = internalClient({ urls: [server.url], self: 'one', service: 'test', secretKeys: TEST_SECRET_KEYS });
    const call = async () => one.post('/internal/changes', {}, z.strictObject({ dry: z.boolean() }));
    const request = { holder: 1, readOnly: false, isClientGone: () => false };
    expect([await call(), await runDry(request, call)]).toEqual([{ dry: false }, { dry: true }]);
    one.close();
  });

  test('sends refusals as they are', async () => {
    const dry = await client.post('/things?validate_only=true', { nmae: 'a' });
    expect([outcome(dry), dry.headers.get('Validated-Only')]).toEqual(['400 unknown_field nmae', null]);
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

  test('the revision is required, and checked before the body', async () => {
    expect(outcome(await client.patch('/things/1', '{'))).toBe('428 precondition_required If-Service-Resource-Version');
    expect(outcome(await client.patch('/things/x', '{'))).toBe('400 invalid_request id');
  });

  test('the request ID is kept, or replaced if it is invalid', async () => {
    const kept = await client.post('/things', {}, { 'X-Request-ID': 'abc-123' });
    expect(kept.body.request_id).toBe('abc-123');
    const replaced = await client.post('/things', {}, { 'X-Request-ID': 'a b' });
    expect(replaced.body.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a deprecated operation has headers with the dates and the successor', async () => {
    const { headers } = await client.get('/old/7');
    expect(headers.get('Deprecation')).toBe('@1795132800');
    expect(headers.get('Sunset')).toBe('Tue, 01 Jun 2027 00:00:00 GMT');
    expect(headers.get('Link')).toBe('</things/7>; rel="successor-version"');
    const refused = await client.get('/old/seven');
    expect(refused.status).toBe(400);
    expect(refused.headers.get('Deprecation')).toBe('@1795132800');
  });

  test('an invalid body has the error code of its contract, an unknown property always unknown_field', async () => {
    const wrong = await client.post('/worded', { word: 7 });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_slack_channel_name_request', field: 'word' } });
    const unknown = await client.post('/worded', { word: 'x', other: 1 });
    expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_field', field: 'other' } });
  });
});

describe('the principal header', () => {
  test.each([
    ['missing', {}],
    ['of a service, on a route for users', asService('one', 'test')],
    ['for another service', asUser('elsewhere')],
    ['forged', { 'x-tocsin-principal': asUser('test')['x-tocsin-principal'].replace(/.$/, '.') }],
    ['malformed', { 'x-tocsin-principal': 'e30.e30' }],
  ])('%s is a 401', async (_who, headers) => {
    expect(outcome(await httpClient(server.url, headers).post('/things', { name: 'a' }))).toBe(
      '401 authentication_required',
    );
  });

  test('internal routes accept only the services that they name', async () => {
    const get = async (headers: Record<string, string>) =>
      httpClient(server.url, headers).get('/internal/changes?since=1');
    expect((await get(asUser('test'))).status).toBe(401);
    for (const [caller, audience] of [
      ['other', 'test'],
      ['unknown', 'test'],
      ['gateway', 'test'],
      ['one', 'elsewhere'],
    ] as const) {
      expect((await get(asService(caller, audience))).status).toBe(401);
    }
    expect((await get(asService('one', 'test'))).body).toEqual({ since: 1 });
  });
});

describe('the service also checks', () => {
  test.each([
    ['the scope', { scopes: ['teams:read'] }, 'missing_scope', { required_scope: 'teams:write' }],
    ['the seat', { seat: 'none' }, 'responder_seat_required', { required_seat: 'responder' }],
    [
      'a permission',
      { permissions: ['manage_settings'] },
      'missing_role_permission',
      { required_permission: 'manage_teams' },
    ],
  ] as const)('%s', async (_what, user, code, details) => {
    const refused = await httpClient(server.url, asUser('test', user)).post('/guarded', '{');
    expect(refused).toMatchObject({ status: 403, body: { code, details } });
    expect((await client.post('/guarded')).status).toBe(204);
  });
});

test('an internal error is returned without details, and logged once with the request ID', async () => {
  const { status, text, body } = await client.get('/fail', { 'X-Request-ID': 'fault-1' });
  expect(status).toBe(500);
  expect(text).not.toContain('hunter2');
  expect(body).toMatchObject({ code: 'internal', request_id: 'fault-1' });
  expect(logged.filter((line) => line.includes('fault-1'))).toHaveLength(1);
});

test('an app is ready while only optional dependencies are down', async () => {
  expect((await client.get('/readyz')).body).toEqual({ status: 'ready', dependencies: { moon: 'down' } });
});

test('requests in progress finish when the app stops', async () => {
  const arrived = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const slow = await serve((_request, response) => {
    arrived.resolve();
    void finished.promise.then(() => response.end('{"done":true}'));
  });
  const answer = httpClient(slow.url).get('/');
  await arrived.promise;
  const closed = slow.close();
  finished.resolve();
  expect((await answer).body).toEqual({ done: true });
  await closed;
});

/** Sends raw HTTP that no client would send, and returns the response up to the end of the JSON body. */
async function rawRequest(head: string[], body: (socket: ReturnType<typeof connect>) => void): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  const answered = new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.endsWith('}')) resolve();
    });
  });
  const principal = asUser('test')['x-tocsin-principal'];
  socket.write(`${[...head, `x-tocsin-principal: ${principal}`].join('\r\n')}\r\n\r\n`);
  body(socket);
  await answered;
  socket.destroy();
  return answer;
}
