import { afterAll, beforeAll, expect, test } from '@jest/globals';
import path from 'node:path';
import { QUEUES } from '@tocsin/contracts';
import { listen, route } from '@tocsin/http';
import { MemoryBroker, outbox, startRelay } from '@tocsin/messaging';
import { createLogger, memoryVersions, readConfig } from '@tocsin/runtime';
import {
  asUser,
  createTestDatabase,
  eventually,
  httpClient,
  TEST_SECRET_KEYS,
  type TestDatabase,
} from '@tocsin/testing';
import { z } from 'zod';
import {
  openBase,
  openVersions,
  runService,
  serviceConfig,
  serviceSettings,
  type ServiceWorker,
} from '../src/index.ts';

const schema = { name: 'probe', migrations: path.join(import.meta.dirname, 'migrations') };

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase({ schema: 'probe', migrations: schema.migrations })));
afterAll(async () => database.drop());

/** A service with one route, and everything else that writes into `order` when it ends. */
function probe(port = 0) {
  const broker = new MemoryBroker();
  const read = readConfig(serviceSettings, {
    NODE_ENV: 'test',
    PORT: String(port),
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    DATABASE_URL: database.adminUrl,
  });
  const config = serviceConfig(read, { schema, databaseUrl: undefined });
  const log = createLogger({ app: 'probe', level: 'silent' });
  const base = openBase({ name: 'probe', schema, config, parts: { broker, log, checkReplies: true } });
  const order: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const routes = [
    route({
      tag: 'Probes',
      scope: 'teams:read',
      summary: '',
      id: 'waitAtGate',
      method: 'get',
      path: '/gate',
      reply: { status: 200, body: z.unknown() },
      handle: async () => {
        arrived.resolve();
        await gate.promise;
        order.push('request');
        return { body: {} };
      },
    }),
  ];
  const worker = (name: string): ServiceWorker => ({
    stop: async () => {
      // Whoever stops may still have something to save.
      await base.database.raw('select 1');
      order.push(name);
    },
  });
  const client = (name: string) => ({
    close: async () => {
      await base.database.raw('select 1');
      order.push(name);
    },
  });
  const run = async (more: Partial<Parameters<typeof runService>[1]> = {}) =>
    runService(base, {
      routes,
      workers: [worker('worker')],
      dispatchers: [worker('dispatcher')],
      clients: [client('first client'), client('second client')],
      ...more,
    });
  return { base, broker, config, log, order, arrived, gate, worker, run };
}

const closed = 'Unable to acquire a connection';

test('stopping waits for the last answer, then for workers, then closes clients in their order and the database', async () => {
  const { base, order, arrived, gate, run } = probe();
  const app = await run();
  const answer = httpClient(app.url, asUser()).get('/gate');
  await arrived.promise;

  const stopped = Promise.all([app.stop(), app.stop()]);
  await eventually(() => order.length > 0);
  expect(order).toEqual(['dispatcher']);
  gate.resolve();
  expect((await answer).status).toBe(200);
  await stopped;
  expect(order).toEqual(['dispatcher', 'request', 'worker', 'first client', 'second client']);
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
});

test('a service that cannot listen says why, and leaves nothing open', async () => {
  const taken = await listen((_request, response) => response.end(), { host: '127.0.0.1', port: 0 });
  const { base, order, run } = probe(taken.port);
  await expect(run()).rejects.toMatchObject({ code: 'EADDRINUSE', port: taken.port });
  expect(order).toEqual(['dispatcher', 'worker', 'first client', 'second client']);
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
  await taken.close();
});

const userChanged = {
  type: 'user.changed',
  occurredAt: '2026-11-20T12:00:00.000Z',
  workspace: { id: 1, slug: 'acme', is_demo: false },
  requestId: null,
  data: { version: 1, user: { id: 1, email: 'a@acme.example', name: 'A', active: true, seat: 'none', role: 'member' } },
} as const;

test('what the outbox holds when a service stops is published, and a broker that was brought stays open', async () => {
  const { base, broker, worker, run } = probe();
  const taken: string[] = [];
  for (const queue of [QUEUES.incidentReplicas, QUEUES.catalogReplicas]) {
    broker.subscribe(queue, async ({ body }) => {
      taken.push((JSON.parse(body.toString()) as { type: string }).type);
      return 'ack';
    });
  }
  const relay = startRelay(base);
  const app = await run({ workers: [relay, worker('worker')] });
  await base.database.transaction(async (trx) => outbox(trx).add(userChanged));
  await app.stop();
  expect(taken).toEqual(['user.changed', 'user.changed']);
  expect(await broker.publish([{ id: 'x', type: 'user.changed', body: '{"type":"user.changed"}' }])).toEqual([
    'confirmed',
  ]);
});

test('consumed events reach their handlers, in the transaction that remembers them', async () => {
  const { base, broker, run } = probe();
  const handled: number[] = [];
  let commits = 0;
  const app = await run({
    consumers: [
      {
        queue: QUEUES.catalogReplicas,
        handlers: { 'user.changed': async ({ data }) => void handled.push(data.version) },
        onCommit: () => (commits += 1),
      },
    ],
  });
  broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
  const relay = startRelay(base);
  await base.database('inbox').delete();
  await base.database.transaction(async (trx) => outbox(trx).add(userChanged));
  relay.wake();
  await eventually(() => commits === 1);
  expect(handled).toEqual([1]);
  expect(await base.database('inbox').select('queue')).toEqual([{ queue: QUEUES.catalogReplicas.name }]);
  await relay.stop();
  await app.stop();
});

test('readiness tells of database, broker and those clients that can be down', async () => {
  const { config, log, run } = probe();
  const redisUrl = 'redis://127.0.0.1:9';
  const announced = openVersions({ config: { ...config, redisUrl }, log, brought: undefined });
  const brought = openVersions({ config: { ...config, redisUrl }, log, brought: memoryVersions() });
  const app = await run({ clients: [announced, brought] });
  expect(await httpClient(app.url).get('/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', dependencies: { database: 'up', broker: 'up', redis: 'down' } },
  });
  await app.stop();
});
