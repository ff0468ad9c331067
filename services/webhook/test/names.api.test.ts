import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { windowStart } from '../src/requests/domain/limits.ts';
import { activeSubscription, deliveries, publish, settled, serviceForFile } from './service.ts';

const NAME = 'receiver.test';

/** Resolves all names; set by each test. */
let resolve: () => Promise<string[]>;
/** Path of the one subscription. */
let subscription: string;
const receiver = stopAfterAll(await startReceiver({ names: [NAME], host: '0.0.0.0' }));
const service = await serviceForFile({
  receivers: [receiver],
  testReceivers: [receiver.hostAndPort(NAME)],
  overrides: { resolve: async () => resolve() },
});
beforeEach(async () => {
  receiver.requests.length = 0;
  subscription = (await activeSubscription(service, receiver.url('/', NAME))).path;
});
afterEach(async () => {
  expect(await service.knex('slots').select('token')).toEqual([]);
  await service.reset();
});

const webhook = async () => (await service.as().get('/api/v1/settings/webhooks')).body.webhooks[0];
const toDue = async () => {
  const [delivery] = await deliveries(service);
  service.clock.advance(Date.parse(delivery!.due_at) - Date.parse(service.clock.now()));
};

describe('a DNS response', () => {
  test('with a private address among others: nothing is sent, and the attempt fails', async () => {
    resolve = async () => ['127.0.0.1', '192.168.0.1'];
    await publish(service, {});
    expect(await settled(service, ({ attempts }) => attempts === 1)).toMatchObject({
      status: 'queued',
      failed_attempts: 1,
      last_error: 'blocked_address',
    });
    expect(receiver.requests).toEqual([]);
    expect(await webhook()).toMatchObject({ status: 'active', last_failure_at: service.clock.now() });
  });

  test('that changes is checked again at each attempt', async () => {
    const responses = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1']];
    resolve = async () => responses.shift() ?? ['10.0.0.1'];
    await publish(service, {});
    await settled(service, ({ status }) => status === 'succeeded');
    await publish(service, { id: 2 });
    await eventually(async () => (await deliveries(service))[1]?.last_error === 'blocked_address');
    service.clock.advance(5_000);
    await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
    expect(receiver.requests).toHaveLength(2);
    expect(responses).toEqual([]);
  });

  test('that the name does not exist counts as a failure of the receiver', async () => {
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

  test('with a server failure does not count as a failure of the receiver', async () => {
    resolve = async () => Promise.reject(Object.assign(new Error('server failure'), { code: 'ESERVFAIL' }));
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

test('after a pause during the DNS lookup nothing is sent, and no attempt is counted', async () => {
  const lookup = Promise.withResolvers<string[]>();
  const queried = Promise.withResolvers<void>();
  resolve = async () => {
    queried.resolve();
    return lookup.promise;
  };
  await publish(service, {});
  await queried.promise;
  await service.as().post(`${subscription}/pause`);
  lookup.resolve(['127.0.0.1']);
  expect(await settled(service)).toMatchObject({ status: 'held', attempts: 0 });
  expect(receiver.requests).toEqual([]);
  expect(await service.knex('windows').where('used', '>', 0).select('scope')).toEqual([]);
});

test('a request counts for the address that it was sent to, not for the previous one', async () => {
  resolve = async () => ['127.0.0.1'];
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  resolve = async () => ['127.0.0.2'];
  await publish(service, { id: 2 });
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  expect(await service.knex('windows').where({ scope: 'delivery:ip' }).orderBy('key').select('key', 'used')).toEqual([
    { key: '127.0.0.1', used: 1 },
    { key: '127.0.0.2', used: 1 },
  ]);
  expect(await service.knex('windows').where({ scope: 'delivery:all' }).sum({ used: 'used' })).toEqual([{ used: 2 }]);
});

test('a request that starts in the next minute counts in that minute', async () => {
  resolve = async () => ['127.0.0.1'];
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  const lookup = Promise.withResolvers<string[]>();
  const queried = Promise.withResolvers<void>();
  resolve = async () => {
    queried.resolve();
    return lookup.promise;
  };
  service.clock.advance(59_000);
  await publish(service, { id: 2 });
  await queried.promise;
  service.clock.advance(2_000);
  lookup.resolve(['127.0.0.1']);
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  const minute = windowStart(service.clock.now());
  const counted = await service
    .knex('windows')
    .where('used', '>', 0)
    .orderBy('scope')
    .select('minute', 'scope', 'used');
  expect(counted.filter((window) => window.minute === minute)).toEqual(
    ['all', 'host', 'ip', 'workspace'].map((scope) => ({ minute, scope: `delivery:${scope}`, used: 1 })),
  );
  expect(counted).toHaveLength(8);
});
