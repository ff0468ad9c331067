import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { activeSubscription, deliveries, publish, settled, startService, type TestService } from './service.ts';

const LEASE = 20_000;

let service: TestService;
let receiver: Receiver;
beforeEach(async () => void (receiver = await startReceiver({ names: ['localhost', 'slow.test'] })));
afterEach(async () => {
  receiver.closeConnections();
  await service.stop();
  await receiver.stop();
});

const slots = async () => service.knex('slots').select('token');

test('a delivery whose lease expired is sent again, and the first attempt records nothing', async () => {
  service = await startService({ receivers: [receiver] });
  await activeSubscription(service, receiver.url());
  const responses: ((status: number) => void)[] = [];
  receiver.respond = () => (response) => void responses.push((status) => void response.writeHead(status).end());
  await publish(service, {});
  await eventually(() => responses.length === 1);
  const [first] = await deliveries(service);

  // The lease expires as if its holder had died.
  service.clock.advance(LEASE);
  await eventually(() => responses.length === 2);
  const [second] = await deliveries(service);
  expect(second!.lease_token).not.toBe(first!.lease_token);
  responses[0]!(404);
  await eventually(() => service.logged().includes('"is_recorded":false'));
  expect(await deliveries(service)).toMatchObject([{ status: 'queued', lease_token: second!.lease_token }]);
  responses[1]!(204);
  expect(await settled(service, ({ status }) => status === 'succeeded')).toMatchObject({
    attempts: 2,
    failed_attempts: 0,
  });
  const { body } = await service.as().get('/api/v1/settings/webhooks');
  expect(body.webhooks).toMatchObject([{ last_failure_at: null }]);
  expect(await slots()).toEqual([]);
});

test('an attempt whose lease expires during the DNS lookup sends nothing', async () => {
  const lookups: PromiseWithResolvers<string[]>[] = [];
  service = await startService({
    receivers: [receiver],
    testReceivers: [receiver.hostAndPort('slow.test')],
    overrides: {
      resolve: async () => {
        const lookup = Promise.withResolvers<string[]>();
        lookups.push(lookup);
        return lookup.promise;
      },
    },
  });
  await activeSubscription(service, receiver.url('/', 'slow.test'));
  await publish(service, {});
  await eventually(() => lookups.length === 1);
  service.clock.advance(LEASE);
  await eventually(() => lookups.length === 2);
  lookups[0]!.resolve(['127.0.0.1']);
  await eventually(() => service.logged().includes('"stage":"prepare","result":"lost"'));
  expect(receiver.requests).toEqual([]);
  lookups[1]!.resolve(['127.0.0.1']);
  await settled(service, ({ status }) => status === 'succeeded');
  expect(receiver.requests).toHaveLength(1);
});

test('stopping waits for the request in progress and records its outcome', async () => {
  service = await startService({ receivers: [receiver] });
  await activeSubscription(service, receiver.url());
  const arrived = Promise.withResolvers<() => void>();
  receiver.respond = () => (response) => arrived.resolve(() => void response.writeHead(204).end());
  await publish(service, {});
  const respond = await arrived.promise;
  const stopped = service.app.stop();
  respond();
  await stopped;
  expect(await deliveries(service)).toMatchObject([{ status: 'succeeded', attempts: 1, lease_token: null }]);
  expect(await slots()).toEqual([]);
});

test('a delivery whose eighth attempt was lost fails', async () => {
  service = await startService({ receivers: [receiver], overrides: { expiryInterval: 100 } });
  await activeSubscription(service, receiver.url());
  receiver.respond = () => behave.answer(503);
  await publish(service, {});
  await settled(service, ({ attempts }) => attempts === 1);
  await service.knex('deliveries').update({
    attempts: 8,
    lease_token: '6f1c2a52-0f0e-4c53-9d2b-2b1d7f3f9a10',
    due_at: new Date(Date.parse(service.clock.now()) + LEASE).toISOString(),
  });
  service.clock.advance(LEASE);
  await settled(service, ({ status }) => status === 'failed');
  expect(receiver.requests).toHaveLength(1);
});
