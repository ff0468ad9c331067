import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, refusal, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { Webhook } from 'standardwebhooks';
import { activeSubscription, publish, serviceForFile, subscribe } from './service.ts';

const NAMES = [
  'localhost',
  '127.0.0.1',
  '127.0.0.2',
  'a.test',
  'b.test',
  'c.test',
  'd.test',
  'blocked.test',
  'gone.test',
];
/** The addresses of host names; tests may change them. */
let addresses: Record<string, string[]>;

const receiver = stopAfterAll(await startReceiver({ names: NAMES, host: '0.0.0.0' }));
const service = await serviceForFile({
  receivers: [receiver],
  testReceivers: NAMES.map((name) => receiver.hostAndPort(name)),
  overrides: {
    resolve: async (host) => {
      const resolved = addresses[host];
      if (resolved === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return resolved;
    },
  },
});

let workspaces = 0;
beforeEach(() => {
  workspaces += 1;
  addresses = {
    localhost: ['127.0.0.1'],
    'a.test': ['127.0.0.1'],
    'b.test': ['127.0.0.2'],
    'c.test': ['127.0.0.3'],
    'd.test': ['127.0.0.1'],
    'blocked.test': ['127.0.0.1', '10.0.0.1'],
  };
  receiver.respond = () => behave.answer(204);
  receiver.handshake = 'tls';
  receiver.requests.length = 0;
  // A new window, so that checks of other tests do not count.
  service.clock.toNextMinute();
});
// No test may leave a slot in use.
afterEach(async () => expect(await service.knex('slots').select('token')).toEqual([]));

const client = () => service.as({ workspace: { id: workspaces } });
const user = () => ({ workspace: { id: workspaces } });

describe('a receiver that responds with a success', () => {
  test('activates the subscription after one signed request', async () => {
    const { id, secret, path } = await subscribe(client(), receiver.url('/in?key=1'));
    service.clock.advance(1_000);
    const { status, body } = await client().post(`${path}/verify`);
    expect(status).toBe(200);
    expect(body.webhook).toMatchObject({
      id,
      status: 'active',
      updated_at: service.clock.now(),
      last_success_at: null,
      last_failure_at: null,
    });
    expect(receiver.requests).toHaveLength(1);
    const { method, path: target, headers, body: text } = receiver.requests[0]!;
    expect({ method, target, type: headers['content-type'] }).toEqual({
      method: 'POST',
      target: '/in?key=1',
      type: 'application/json',
    });
    const message = new Webhook(secret, { format: 'raw' }).verify(text, headers as Record<string, string>);
    expect(message).toEqual({
      id: headers['webhook-id'],
      type: 'webhook.verification',
      schema_version: 1,
      occurred_at: service.clock.now(),
      resource: { type: 'webhook', id },
    });
  });

  test('gets no request from a validation, which uses no slot either', async () => {
    const { path } = await subscribe(client(), receiver.url());
    const stored = async () =>
      Promise.all(
        ['windows', 'activity', 'host_addresses'].map(async (table) => service.knex(table).count({ rows: '*' })),
      );
    const before = await stored();
    const validation = await client().post(`${path}/verify?validate_only=true`);
    expect(validation).toMatchObject({ status: 200, body: { webhook: { status: 'active' } } });
    expect(receiver.requests).toEqual([]);
    expect(await stored()).toEqual(before);
    expect((await client().post(`${path}/verify`)).status).toBe(200);
    expect(receiver.requests).toHaveLength(1);
  });

  test('may belong to a demo workspace', async () => {
    const demo = service.as({ workspace: { id: workspaces, is_demo: true } });
    const { path } = await subscribe(demo, receiver.url());
    expect((await demo.post(`${path}/verify`)).body.webhook.status).toBe('active');
  });

  test('activates a subscription that a user paused', async () => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    await client().post(`${path}/pause`);
    expect((await client().post(`${path}/verify`)).body.webhook.status).toBe('active');
  });
});

describe('a receiver that fails the verification', () => {
  test.each([
    ['a refusal', behave.answer(404), { reason: 'status', status_code: 404 }],
    ['a redirect', behave.answer(307, { Location: 'https://localhost/' }), { reason: 'status', status_code: 307 }],
    ['a truncated body', behave.truncated(), { reason: 'connection', status_code: 200 }],
    ['a closed connection', behave.close(), { reason: 'connection' }],
  ])('responds with %s', async (_case, behaviour, details) => {
    receiver.respond = () => behaviour;
    const { path } = await subscribe(client(), receiver.url());
    expect(await client().post(`${path}/verify`)).toMatchObject(
      refusal(409, 'webhook_verification_failed', { details }),
    );
    const list = await client().get('/api/v1/settings/webhooks');
    expect(list.body.webhooks).toMatchObject([{ status: 'paused', last_failure_at: null }]);
    expect(await client().post(`${path}/resume`)).toMatchObject({ status: 409 });
  });

  test('breaks the TLS handshake', async () => {
    receiver.handshake = 'garbage';
    const { path } = await subscribe(client(), receiver.url());
    expect(await client().post(`${path}/verify`)).toMatchObject({ status: 409, body: { details: { reason: 'tls' } } });
  });

  test('has a private address among its addresses', async () => {
    const { path } = await subscribe(client(), receiver.url('/', 'blocked.test'));
    expect(await client().post(`${path}/verify`)).toMatchObject({
      status: 409,
      body: { details: { reason: 'blocked_address' } },
    });
    expect(receiver.requests).toEqual([]);
  });

  test('leaves an active subscription unchanged', async () => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    const before = (await client().get('/api/v1/settings/webhooks')).body;
    receiver.respond = () => behave.answer(500);
    service.clock.advance(1_000);
    expect((await client().post(`${path}/verify`)).status).toBe(409);
    expect((await client().get('/api/v1/settings/webhooks')).body).toEqual(before);
  });
});

describe('a test', () => {
  const outcomeOf = async (path: string) => (await client().post(`${path}/test`)).body.outcome;

  test('sends the request of a verification, shows the answer, and changes nothing', async () => {
    const { id, secret, path } = await subscribe(client(), receiver.url('/secret-of-path'));
    const before = (await client().get('/api/v1/settings/webhooks')).text;
    receiver.respond = () => behave.answer(200, {}, 'stored under /secret-of-path');
    expect(await outcomeOf(path)).toEqual({
      ...{ result: 'succeeded', status: 200, duration_ms: expect.any(Number), answer: 'stored under ***' },
    });
    const { headers, body } = receiver.requests[0]!;
    expect(JSON.parse(body)).toMatchObject({ type: 'webhook.verification', resource: { type: 'webhook', id } });
    const at = new Date(1_000 * Number(headers['webhook-timestamp']));
    const signature = new Webhook(secret, { format: 'raw' }).sign(headers['webhook-id'] as string, at, body);
    expect(headers['webhook-signature']).toBe(signature);
    expect((await client().get('/api/v1/settings/webhooks')).text).toBe(before);
    expect(service.logged()).not.toContain('secret-of-path');
  });

  test.each([
    ['refuses', behave.answer(403, {}, 'no\0pe'), { result: 'status', status: 403, answer: 'no\uFFFDpe' }],
    ['closes the connection', behave.close(), { result: 'connection', status: null, answer: null }],
    ['says too much', behave.oversized(), { result: 'body_too_large', status: 200, answer: 'x'.repeat(1_024) }],
  ])('of a receiver that %s counts no failure, however often', async (_, behaviour, outcome) => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    const before = (await client().get('/api/v1/settings/webhooks')).text;
    receiver.respond = () => behaviour;
    for (let round = 0; round < 6; round += 1) {
      service.clock.toNextMinute();
      expect(await outcomeOf(path)).toMatchObject(outcome);
    }
    expect((await client().get('/api/v1/settings/webhooks')).text).toBe(before);
  });

  test('works while paused, and not after the revocation, in another workspace, or beyond the limit', async () => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    await client().post(`${path}/pause`);
    for (let round = 0; round < 3; round += 1) expect((await client().post(`${path}/test`)).status).toBe(200);
    expect(await client().post(`${path}/verify`)).toMatchObject(refusal(429, 'rate_limited'));
    expect(await client().post(`${path}/test`)).toMatchObject(refusal(429, 'rate_limited'));
    const stranger = service.as({ workspace: { id: 999_999 } });
    expect(await stranger.post(`${path}/test`)).toMatchObject(refusal(404, 'not_found'));
    await client().post(`${path}/revoke`);
    expect(await client().post(`${path}/test`)).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect(receiver.requests).toHaveLength(3);
  });
});

test('a subscription that is revoked during the check stays revoked', async () => {
  const { path } = await subscribe(client(), receiver.url());
  const arrived = Promise.withResolvers<() => void>();
  receiver.respond = () => (response) => arrived.resolve(() => void response.writeHead(204).end());
  const check = client().post(`${path}/verify`);
  const respond = await arrived.promise;
  await client().post(`${path}/revoke`);
  respond();
  expect(await check).toMatchObject(refusal(409, 'invalid_resource_state'));
});

describe('the limits of checks', () => {
  const check = async (workspaceId: number, name: string) => {
    const own = service.as({ workspace: { id: 1_000 * workspaces + workspaceId } });
    const { path } = await subscribe(own, receiver.url('/', name));
    return async () => own.post(`${path}/verify`);
  };
  const refused = refusal(429, 'rate_limited', { details: { retry_after_seconds: 60 } });

  test('three per minute and workspace, whatever the receivers', async () => {
    for (const name of ['a.test', 'b.test', 'c.test']) expect((await (await check(1, name))()).status).toBe(200);
    const again = await check(1, '127.0.0.2');
    service.clock.advance(20_500);
    const response = await again();
    expect(response).toMatchObject({ status: 429, body: { details: { retry_after_seconds: 40 } } });
    expect(response.headers.get('Retry-After')).toBe('40');
    service.clock.advance(39_500);
    expect((await again()).status).toBe(200);
  });

  test('three per minute and host name, whatever its addresses', async () => {
    for (const [n, ip] of ['127.0.0.1', '127.0.0.2', '127.0.0.3'].entries()) {
      addresses['a.test'] = [ip];
      expect((await (await check(n, 'a.test'))()).status).toBe(200);
    }
    addresses['a.test'] = ['127.0.0.4'];
    expect(await (await check(9, 'a.test'))()).toMatchObject(refused);
  });

  test('three per minute and address, whatever its names', async () => {
    for (const name of ['a.test', 'd.test', 'localhost']) expect((await (await check(1, name))()).status).toBe(200);
    // A name that was not resolved before: the limit applies once its address is known.
    addresses['gone.test'] = ['127.0.0.1'];
    expect(await (await check(2, 'gone.test'))()).toMatchObject(refused);
    expect(receiver.requests).toHaveLength(3);
  });

  test('thirty per minute in total', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 31; n += 1) {
      // Eleven workspaces and names, so that none reaches its own limit. The checks fail because the address is not
      // public.
      const name = `n${n % 11}.example`;
      addresses[name] = ['10.0.0.1'];
      const own = service.as({ workspace: { id: 1_000 * workspaces + (n % 11) } });
      const { path } = await subscribe(own, `https://${name}/`);
      statuses.push((await own.post(`${path}/verify`)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 409), 429]);
  });

  test('a check waits for a slot for a limited time', async () => {
    const responses: (() => void)[] = [];
    receiver.respond = ({ path }) =>
      path === '/busy'
        ? (response) => void responses.push(() => void response.writeHead(204).end())
        : behave.answer(204);
    const busy = { workspace: { id: 1_000 * workspaces + 500 } };
    await activeSubscription(service, receiver.url('/busy', 'a.test'), busy);
    await publish(service, { id: 1, ...busy }, { id: 2, ...busy });
    await eventually(() => responses.length === 2);
    const makeCheck = await check(1, 'd.test');
    expect(await makeCheck()).toMatchObject({ status: 429, body: { details: { retry_after_seconds: 1 } } });
    const waiting = makeCheck();
    responses.forEach((respond) => respond());
    expect((await waiting).status).toBe(200);
    // A check that got no slot does not count: two more may follow.
    expect([(await makeCheck()).status, (await makeCheck()).status]).toEqual([200, 200]);
    expect((await makeCheck()).status).toBe(429);
  });

  test('of four concurrent checks three are made', async () => {
    const checks = await Promise.all(Array.from({ length: 4 }, async (_, n) => check(n, 'a.test')));
    const statuses = (await Promise.all(checks.map(async (make) => make()))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 429]);
    expect(receiver.requests).toHaveLength(3);
  });
});
