import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import { activeSubscription, publish, startService, subscribe, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
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
/** Where names lead; a test may change it. */
let addresses: Record<string, string[]>;

beforeAll(async () => {
  receiver = await startReceiver({ names: NAMES, host: '0.0.0.0' });
  service = await startService({
    receivers: [receiver],
    testReceivers: NAMES.map((name) => receiver.hostAndPort(name)),
    parts: {
      resolve: async (host) => {
        const found = addresses[host];
        if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
        return found;
      },
    },
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
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
  // So that one test's checks do not count in another's windows.
  service.clock.toNextMinute();
});
// Whatever happened, no slot is left.
afterEach(async () => expect(await service.rows('slots').select('token')).toEqual([]));

const client = () => service.as({ workspace: { id: workspaces } });
const user = () => ({ workspace: { id: workspaces } });

describe('a receiver that answers well', () => {
  test('makes the subscription active, after one signed request', async () => {
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

  test.each([200, 201, 202, 299])('may answer %d', async (status) => {
    receiver.respond = () => behave.answer(status, {}, 'thanks');
    const { path } = await subscribe(client(), receiver.url());
    expect((await client().post(`${path}/verify`)).status).toBe(200);
  });

  test('may be that of a demo workspace', async () => {
    const demo = service.as({ workspace: { id: workspaces, is_demo: true } });
    const { path } = await subscribe(demo, receiver.url());
    expect((await demo.post(`${path}/verify`)).body.webhook.status).toBe('active');
  });

  test('makes one active that was paused by hand', async () => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    await client().post(`${path}/pause`);
    expect((await client().post(`${path}/verify`)).body.webhook.status).toBe('active');
  });
});

describe('a receiver that does not', () => {
  test.each([
    ['a refusal', behave.answer(404), { reason: 'status', status_code: 404 }],
    ['a redirect', behave.answer(307, { Location: 'https://localhost/' }), { reason: 'status', status_code: 307 }],
    ['another protocol', behave.switching(), { reason: 'status', status_code: 101 }],
    ['too much', behave.oversized(), { reason: 'body_too_large', status_code: 200 }],
    ['too little', behave.truncated(), { reason: 'connection', status_code: 200 }],
    ['nothing', behave.close(), { reason: 'connection' }],
  ])('answers %s', async (_what, behaviour, details) => {
    receiver.respond = () => behaviour;
    const { path } = await subscribe(client(), receiver.url());
    expect(await client().post(`${path}/verify`)).toMatchObject({
      status: 409,
      body: { code: 'webhook_verification_failed', details },
    });
    const list = await client().get('/api/v1/settings/webhooks');
    expect(list.body.webhooks).toMatchObject([{ status: 'paused', last_failure_at: null }]);
    expect(await client().post(`${path}/resume`)).toMatchObject({ status: 409 });
  });

  test('takes longer than ten seconds', async () => {
    receiver.respond = () => behave.hang();
    const { path } = await subscribe(client(), receiver.url());
    const started = performance.now();
    expect(await client().post(`${path}/verify`)).toMatchObject({
      status: 409,
      body: { details: { reason: 'timeout' } },
    });
    expect(performance.now() - started).toBeLessThan(11_000);
  });

  test('has a broken certificate', async () => {
    receiver.handshake = 'garbage';
    const { path } = await subscribe(client(), receiver.url());
    expect(await client().post(`${path}/verify`)).toMatchObject({ status: 409, body: { details: { reason: 'tls' } } });
  });

  test('has an address that is not public among its own', async () => {
    const { path } = await subscribe(client(), receiver.url('/', 'blocked.test'));
    expect(await client().post(`${path}/verify`)).toMatchObject({
      status: 409,
      body: { details: { reason: 'blocked_address' } },
    });
    expect(receiver.requests).toEqual([]);
  });

  test('has a name that nobody knows', async () => {
    const { path } = await subscribe(client(), receiver.url('/', 'gone.test'));
    expect(await client().post(`${path}/verify`)).toMatchObject({ status: 409, body: { details: { reason: 'dns' } } });
  });

  test('changes nothing for an active subscription', async () => {
    const { path } = await activeSubscription(service, receiver.url(), user());
    const before = (await client().get('/api/v1/settings/webhooks')).body;
    receiver.respond = () => behave.answer(500);
    service.clock.advance(1_000);
    expect((await client().post(`${path}/verify`)).status).toBe(409);
    expect((await client().get('/api/v1/settings/webhooks')).body).toEqual(before);
  });
});

test('a subscription that is revoked during the check stays revoked', async () => {
  const { path } = await subscribe(client(), receiver.url());
  const arrived = Promise.withResolvers<() => void>();
  receiver.respond = () => (response) => arrived.resolve(() => void response.writeHead(204).end());
  const check = client().post(`${path}/verify`);
  const answer = await arrived.promise;
  await client().post(`${path}/revoke`);
  answer();
  expect(await check).toMatchObject({ status: 409, body: { code: 'invalid_resource_state' } });
});

describe('limits of checks', () => {
  const check = async (workspaceId: number, name: string) => {
    const own = service.as({ workspace: { id: 1_000 * workspaces + workspaceId } });
    const { path } = await subscribe(own, receiver.url('/', name));
    return async () => own.post(`${path}/verify`);
  };
  const refused = { status: 429, body: { code: 'rate_limited', details: { retry_after_seconds: 60 } } };

  test('three a minute for one workspace, whatever the receivers', async () => {
    for (const name of ['a.test', 'b.test', 'c.test']) expect((await (await check(1, name))()).status).toBe(200);
    const again = await check(1, '127.0.0.2');
    service.clock.advance(20_500);
    const answer = await again();
    expect(answer).toMatchObject({ status: 429, body: { details: { retry_after_seconds: 40 } } });
    expect(answer.headers.get('Retry-After')).toBe('40');
    service.clock.advance(39_500);
    expect((await again()).status).toBe(200);
  });

  test('three a minute for one host name, whatever its addresses', async () => {
    for (const [n, ip] of ['127.0.0.1', '127.0.0.2', '127.0.0.3'].entries()) {
      addresses['a.test'] = [ip];
      expect((await (await check(n, 'a.test'))()).status).toBe(200);
    }
    addresses['a.test'] = ['127.0.0.4'];
    expect(await (await check(9, 'a.test'))()).toMatchObject(refused);
  });

  test('three a minute for one address, whatever its names', async () => {
    for (const name of ['a.test', 'd.test', 'localhost']) expect((await (await check(1, name))()).status).toBe(200);
    // A name that was never looked up: the limit shows only when its address is known.
    addresses['gone.test'] = ['127.0.0.1'];
    expect(await (await check(2, 'gone.test'))()).toMatchObject(refused);
    expect(receiver.requests).toHaveLength(3);
  });

  test('thirty a minute in all', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 31; n += 1) {
      // Eleven workspaces and names: none of them is at its own limit. The checks fail, for the address is not public.
      const name = `n${n % 11}.example`;
      addresses[name] = ['10.0.0.1'];
      const own = service.as({ workspace: { id: 1_000 * workspaces + (n % 11) } });
      const { path } = await subscribe(own, `https://${name}/`);
      statuses.push((await own.post(`${path}/verify`)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 409), 429]);
  });

  test('a failed check counts like any other', async () => {
    receiver.respond = () => behave.answer(500);
    for (let n = 0; n < 3; n += 1) expect((await (await check(1, 'a.test'))()).status).toBe(409);
    expect((await (await check(1, 'b.test'))()).status).toBe(429);
  });

  test('a check waits for a slot as long as that may still become free', async () => {
    const answers: (() => void)[] = [];
    receiver.respond = ({ path }) =>
      path === '/busy' ? (response) => void answers.push(() => void response.writeHead(204).end()) : behave.answer(204);
    const busy = { workspace: { id: 1_000 * workspaces + 500 } };
    await activeSubscription(service, receiver.url('/busy', 'a.test'), busy);
    await publish(service, { id: 1, ...busy }, { id: 2, ...busy });
    await eventually(() => answers.length === 2);
    const refusedForNow = await check(1, 'd.test');
    expect(await refusedForNow()).toMatchObject({ status: 429, body: { details: { retry_after_seconds: 1 } } });
    const patient = refusedForNow();
    answers.forEach((answer) => answer());
    expect((await patient).status).toBe(200);
    // What was refused for want of a slot was no check: two more may follow.
    expect([(await refusedForNow()).status, (await refusedForNow()).status]).toEqual([200, 200]);
    expect((await refusedForNow()).status).toBe(429);
  });

  test('four at once: three are made', async () => {
    const checks = await Promise.all(Array.from({ length: 4 }, async (_, n) => check(n, 'a.test')));
    const statuses = (await Promise.all(checks.map(async (make) => make()))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 429]);
    expect(receiver.requests).toHaveLength(3);
  });
});
