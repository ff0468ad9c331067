import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MemoryBroker } from '@tocsin/messaging';
import { behave, eventually, type Receiver, startReceiver, TEST_SECRET_KEYS, testClock } from '@tocsin/testing';
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
  await eventually(() => service.logged().includes('cancelled or leased again'));
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
  await eventually(() => service.logged().includes('cancelled before it was sent'));
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
  service = await startService({ receivers: [receiver], overrides: { giveUpInterval: 100 } });
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

test('a delivery whose process was killed during the request is sent again', async () => {
  service = await startService({ receivers: [receiver], realTime: true });
  const { id } = await activeSubscription(service, receiver.url('/in'));
  await service.app.stop();
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-'));
  const authority = path.join(folder, 'ca.pem');
  await writeFile(authority, receiver.ca);

  // The process is killed while it waits for the receiver's response.
  const now = new Date().toISOString();
  await service.knex.raw(
    `with event as (
       insert into events (id, workspace_id, body, occurred_at, queued_at) values (gen_random_uuid(), 1, '{}', ?, ?)
       returning id)
     insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
     select id, ?, 1, 'queued', ?, ?::timestamptz + interval '1 day' from event`,
    [now, now, id, now, now],
  );
  receiver.respond = () => behave.hang();
  const child = fork(path.join(import.meta.dirname, '../src/main.ts'), {
    stdio: 'ignore',
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_ENV: 'test',
      NODE_EXTRA_CA_CERTS: authority,
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      WEBHOOK_DATABASE_URL: service.database.url('webhook'),
      INCIDENT_URL: service.incidents.url,
      WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
      AMQP_URL: 'amqp://127.0.0.1:1',
    },
  });
  await eventually(() => receiver.requests.length === 1);
  child.kill('SIGKILL');
  await eventually(() => child.signalCode === 'SIGKILL');
  await rm(folder, { recursive: true });
  expect(await deliveries(service)).toMatchObject([{ status: 'queued', attempts: 1 }]);
  expect(await slots()).toHaveLength(1);

  receiver.respond = () => behave.answer(204);
  // The lease expires for a replica whose clock is ahead.
  const clock = testClock();
  clock.advance(LEASE);
  await service.startReplica({ broker: new MemoryBroker(), clock });
  await eventually(async () => (await deliveries(service))[0]?.status === 'succeeded');
  const [delivery] = await deliveries(service);
  expect(delivery).toMatchObject({ attempts: 2, failed_attempts: 0 });
  expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([
    delivery!.event_id,
    delivery!.event_id,
  ]);
});
