import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { windowOf } from '../src/domain/limits.ts';
import { activeSubscription, deliveries, publish, settled, startService, type TestService } from './service.ts';

const NAME = 'receiver.test';

let service: TestService;
let receiver: Receiver;
/** What the name servers say, from now on. */
let resolve: () => Promise<string[]>;
/** Path of the one subscription. */
let subscription: string;
beforeAll(async () => {
  receiver = await startReceiver({ names: [NAME], host: '0.0.0.0' });
  service = await startService({
    receivers: [receiver],
    testReceivers: [receiver.hostAndPort(NAME)],
    parts: { resolve: async () => resolve() },
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.requests.length = 0;
  subscription = (await activeSubscription(service, receiver.url('/', NAME))).path;
});
afterEach(async () => {
  expect(await service.rows('slots').select('token')).toEqual([]);
  await service.reset();
});

const webhook = async () => (await service.as().get('/api/v1/settings/webhooks')).body.webhooks[0];
const toDue = async () => {
  const [delivery] = await deliveries(service);
  service.clock.advance(Date.parse(delivery!.due_at) - Date.parse(service.clock.now()));
};

describe('an answer of the name servers', () => {
  test.each([
    ['with a private address', ['10.0.0.1']],
    ['with a private address among others', ['127.0.0.1', '192.168.0.1']],
    ['with a private address first', ['169.254.169.254', '127.0.0.1']],
    ['with a private address in the other family', ['127.0.0.1', 'fd00::1']],
    ['with a private address inside IPv6', ['::ffff:10.0.0.1']],
    ['with a private address behind a translator', ['64:ff9b::a00:1']],
    ['with an address of no known range', ['::7f00:1']],
  ])('%s: nothing is sent, and the attempt failed', async (_what, addresses) => {
    resolve = async () => addresses;
    await publish(service, {});
    expect(await settled(service, ({ attempts }) => attempts === 1)).toMatchObject({
      status: 'queued',
      failed_attempts: 1,
      last_error: 'blocked_address',
    });
    expect(receiver.requests).toEqual([]);
    expect(await webhook()).toMatchObject({ status: 'active', last_failure_at: service.clock.now() });
  });

  test('that is another the next time is judged anew', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1']];
    resolve = async () => answers.shift() ?? ['10.0.0.1'];
    await publish(service, {});
    await settled(service, ({ status }) => status === 'succeeded');
    await publish(service, { id: 2 });
    await eventually(async () => (await deliveries(service))[1]?.last_error === 'blocked_address');
    service.clock.advance(5_000);
    await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
    expect(receiver.requests).toHaveLength(2);
    expect(answers).toEqual([]);
  });

  test('that never comes is waited for ten seconds', async () => {
    resolve = async () => Promise.withResolvers<string[]>().promise;
    const started = performance.now();
    await publish(service, {});
    expect(await settled(service, ({ attempts, lease_token }) => attempts === 1 && lease_token === null)).toMatchObject(
      {
        status: 'queued',
        last_error: 'dns',
      },
    );
    expect(performance.now() - started).toBeLessThan(11_000);
  });

  test('that there is no such name is the receiver’s failure', async () => {
    resolve = async () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    await publish(service, {});
    for (let n = 1; n < 5; n += 1) {
      await settled(service, ({ attempts }) => attempts === n);
      await toDue();
    }
    expect(await settled(service, ({ attempts }) => attempts === 5)).toMatchObject({
      status: 'held',
      last_error: 'dns',
    });
  });

  test('that never comes from a name server of ours is not', async () => {
    resolve = async () => Promise.reject(Object.assign(new Error('no answer'), { code: 'ESERVFAIL' }));
    await publish(service, {});
    for (let n = 1; n < 8; n += 1) {
      expect(await settled(service, ({ attempts }) => attempts === n)).toMatchObject({
        status: 'queued',
        last_error: 'dns',
      });
      await toDue();
    }
    expect(await settled(service, ({ attempts }) => attempts === 8)).toMatchObject({ status: 'failed' });
    expect(await webhook()).toMatchObject({ status: 'active', last_failure_at: null });
  });
});

test('a pause while the name is looked up means that nothing is sent, and that nothing was tried', async () => {
  const lookUp = Promise.withResolvers<string[]>();
  const asked = Promise.withResolvers<void>();
  resolve = async () => {
    asked.resolve();
    return lookUp.promise;
  };
  await publish(service, {});
  await asked.promise;
  await service.as().post(`${subscription}/pause`);
  lookUp.resolve(['127.0.0.1']);
  expect(await settled(service)).toMatchObject({ status: 'held', attempts: 0 });
  expect(receiver.requests).toEqual([]);
  expect(await service.rows('windows').where('used', '>', 0).select('scope')).toEqual([]);
});

test('a request counts for the address that it went to, not for the one of last time', async () => {
  resolve = async () => ['127.0.0.1'];
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  resolve = async () => ['127.0.0.2'];
  await publish(service, { id: 2 });
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  expect(await service.rows('windows').where({ scope: 'delivery:ip' }).orderBy('key').select('key', 'used')).toEqual([
    { key: '127.0.0.1', used: 1 },
    { key: '127.0.0.2', used: 1 },
  ]);
  expect(await service.rows('windows').where({ scope: 'delivery:all' }).select('used')).toEqual([{ used: 2 }]);
});

test('a request that begins in the next minute counts there', async () => {
  resolve = async () => ['127.0.0.1'];
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  const lookUp = Promise.withResolvers<string[]>();
  const asked = Promise.withResolvers<void>();
  resolve = async () => {
    asked.resolve();
    return lookUp.promise;
  };
  service.clock.advance(59_000);
  await publish(service, { id: 2 });
  await asked.promise;
  service.clock.advance(2_000);
  lookUp.resolve(['127.0.0.1']);
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  const minute = windowOf(service.clock.now());
  const counted = await service
    .rows('windows')
    .where('used', '>', 0)
    .orderBy('scope')
    .select('minute', 'scope', 'used');
  expect(counted.filter((window) => window.minute === minute)).toEqual(
    ['all', 'host', 'ip', 'workspace'].map((scope) => ({ minute, scope: `delivery:${scope}`, used: 1 })),
  );
  expect(counted).toHaveLength(8);
});
