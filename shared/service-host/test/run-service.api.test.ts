import { afterAll, expect, test } from '@jest/globals';
import path from 'node:path';
import { QUEUES } from '@tocsin/schemas';
import { listen, endpoint, implement } from '@tocsin/http';
import { MemoryBroker, outbox, startRelay } from '@tocsin/messaging';
import { createLogger, memoryVersions, readConfig, RequestWork, runForRequest } from '@tocsin/runtime';
import { asUser, createTestDatabase, eventually, httpClient, serve, TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import { serviceConfig, serviceSettings } from '../src/config.ts';
import { openBase, openVersions, runService, type ServiceSpec, type ServiceWorker } from '../src/index.ts';

const schema = { name: 'probe', migrations: path.join(import.meta.dirname, 'migrations') };

const database = await createTestDatabase({ schema: 'probe', migrations: schema.migrations });
afterAll(async () => database.drop());

/** A service with one route; its request, workers and clients write into `order` when they end. */
function probe(port = 0, overrides: { firstRunWithin?: number } = {}) {
  const broker = new MemoryBroker();
  const read = readConfig(serviceSettings, {
    NODE_ENV: 'test',
    PORT: String(port),
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    DATABASE_URL: database.adminUrl,
  });
  const config = serviceConfig(read, { schema, databaseUrl: undefined });
  const log = createLogger({ app: 'probe', level: 'silent' });
  const base = openBase({
    name: 'probe',
    schema,
    config,
    overrides: { broker, log, checkReplies: true, ...overrides },
  });
  const order: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const contracts = {
    waitAtGate: {
      ...endpoint('GET', '/gate', 'Wait until the test opens the gate'),
      tag: 'Probes',
      scope: 'teams:read',
      reply: { status: 200, body: z.unknown() },
    },
  } as const;
  const routes = implement(contracts, {
    waitAtGate: async () => {
      arrived.resolve();
      await gate.promise;
      order.push('request');
      return { body: {} };
    },
  });
  const worker = (name: string): ServiceWorker => ({
    stop: async () => {
      // A worker may write to the database while it stops.
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
  const run = async <Name extends string = never>(more: Partial<ServiceSpec<Name>> = {}) =>
    runService<Name>(base, {
      routes,
      workers: [worker('worker')],
      dispatchers: [worker('dispatcher')],
      clients: [client('first client'), client('second client')],
      ...more,
    });
  return { base, broker, config, log, order, arrived, gate, worker, run };
}

const closed = 'the pool of connections is closed';

test('stopping waits for the last response, then stops workers, then closes clients in order and the database', async () => {
  const { base, order, arrived, gate, run } = probe();
  const app = await run();
  const response = httpClient(app.url, asUser('probe')).get('/gate');
  await arrived.promise;

  const stopped = Promise.all([app.stop(), app.stop()]);
  await eventually(() => order.length > 0);
  expect(order).toEqual(['dispatcher']);
  gate.resolve();
  expect((await response).status).toBe(200);
  await stopped;
  expect(order).toEqual(['dispatcher', 'request', 'worker', 'first client', 'second client']);
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
});

test('a service that cannot bind its address throws the error and leaves nothing open', async () => {
  const taken = await serve((_request, response) => response.end());
  const { base, order, run } = probe(taken.port);
  await expect(run()).rejects.toMatchObject({ code: 'EADDRINUSE', port: taken.port });
  expect(order).toEqual(['dispatcher', 'worker', 'first client', 'second client']);
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
  await taken.close();
});

const address = { host: '127.0.0.1', port: 0 };

test('additional servers are drained before the own one, which serves until then', async () => {
  const { base, order, run } = probe();
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const app = await run({
    servers: (ownUrl) => ({
      public: {
        address,
        handler: (_request, response) => {
          arrived.resolve();
          void gate.promise.then(async () => {
            order.push(`public request, with the own server ${(await httpClient(ownUrl).get('/healthz')).body.status}`);
            response.end('{}');
          });
        },
      },
    }),
  });
  const response = httpClient(app.serverUrls.public).get('/');
  await arrived.promise;

  const stopped = app.stop();
  await eventually(() => order.length > 0);
  await expect(fetch(app.serverUrls.public)).rejects.toThrow('fetch failed');
  expect((await httpClient(app.url).get('/healthz')).status).toBe(200);
  gate.resolve();
  expect((await response).status).toBe(200);
  await stopped;
  expect(order).toEqual([
    'dispatcher',
    'public request, with the own server ok',
    'worker',
    'first client',
    'second client',
  ]);
  await expect(fetch(app.url)).rejects.toThrow('fetch failed');
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
});

test('if an additional server cannot bind its address, everything else is closed and the error is thrown', async () => {
  const handler = (_request: unknown, response: { end(): unknown }) => void response.end();
  const taken = await listen(handler, address);
  const free = await listen(handler, address);
  await free.close();
  const { base, order, run } = probe();
  const starting = run({
    address: { ...address, port: free.port },
    servers: () => ({ first: { handler, address }, second: { handler, address: { ...address, port: taken.port } } }),
  });
  await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE', port: taken.port });
  expect(order).toEqual(['dispatcher', 'worker', 'first client', 'second client']);
  await expect(base.database.raw('select 1')).rejects.toThrow(closed);
  // The own server, which was open already, has released its port.
  await (await listen(handler, { ...address, port: free.port })).close();
  await taken.close();
});

const userChanged = {
  type: 'user.changed',
  occurredAt: '2026-11-20T12:00:00.000Z',
  workspace: { id: 1, slug: 'acme', is_demo: false },
  requestId: null,
  data: { version: 1, user: { id: 1, email: 'a@acme.example', name: 'A', active: true, seat: 'none', role: 'member' } },
} as const;

test('a stopping service publishes its outbox, and does not close a broker from the overrides', async () => {
  const { base, broker, worker, run } = probe();
  const consumed: string[] = [];
  for (const queue of [QUEUES.incidentReplicas, QUEUES.catalogReplicas]) {
    broker.subscribe(queue, async ({ body }) => {
      consumed.push((JSON.parse(body.toString()) as { type: string }).type);
      return 'ack';
    });
  }
  const relay = startRelay(base);
  const app = await run({ workers: [relay, worker('worker')] });
  await base.database.transaction(async (trx) => outbox(trx).add(userChanged));
  await app.stop();
  expect(consumed).toEqual(['user.changed', 'user.changed']);
  expect(await broker.publish([{ id: 'x', type: 'user.changed', body: '{"type":"user.changed"}' }])).toEqual([
    'confirmed',
  ]);
});

test('a consumed event is handled in the transaction that records it in the inbox', async () => {
  const { base, broker, run } = probe();
  const handled: number[] = [];
  const app = await run({
    consumers: [
      {
        queue: QUEUES.catalogReplicas,
        handlers: { 'user.changed': async ({ data }) => void handled.push(data.version) },
      },
    ],
  });
  broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
  const relay = startRelay(base);
  await base.database('inbox').delete();
  await base.database.transaction(async (trx) => outbox(trx).add(userChanged));
  relay.wake();
  await eventually(async () => (await base.database('inbox').select('queue')).length === 1);
  expect(handled).toEqual([1]);
  expect(await base.database('inbox').select('queue')).toEqual([{ queue: QUEUES.catalogReplicas.name }]);
  await relay.stop();
  await app.stop();
});

test('readiness includes the database, the broker and the clients with a readiness check', async () => {
  const { config, log, run } = probe();
  const redisUrl = 'redis://127.0.0.1:9';
  const announced = openVersions({ config: { ...config, redisUrl }, log, override: undefined });
  const override = openVersions({ config: { ...config, redisUrl }, log, override: memoryVersions() });
  const app = await run({ clients: [announced, override] });
  expect(await httpClient(app.url).get('/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', dependencies: { database: 'up', broker: 'up', redis: 'down' } },
  });
  await app.stop();
});

test('a service whose connections are all in use is ready: the database responds', async () => {
  const { base, run } = probe();
  const app = await run({});
  const work = Promise.withResolvers<void>();
  const hold = async () =>
    base.database.transaction(async (trx) => {
      await trx.raw('select 1');
      await work.promise;
    });
  const ofWorkspace = (holder: number) => new RequestWork({ holder, readOnly: true, isClientGone: () => false });
  const held = [...Array.from({ length: 6 }, async (_, id) => runForRequest(ofWorkspace(id), hold)), hold()];
  const inUse = async () => /^tocsin_database_connections_in_use\S* (\d+)$/m.exec(await base.metrics.metrics())?.[1];
  await eventually(async () => (await inUse()) === '7', { what: 'the use of all connections' });
  expect(await httpClient(app.url).get('/readyz')).toMatchObject({
    status: 200,
    body: { dependencies: { database: 'up' } },
  });
  work.resolve();
  await Promise.all(held);
  await app.stop();
});

test('periodic tasks run soon after the start, before their first interval is over', async () => {
  const { run } = probe(0, { firstRunWithin: 50 });
  const runs: string[] = [];
  const task = (name: string) => ({
    name,
    work: async () => {
      runs.push(name);
      return false;
    },
  });
  const app = await run({ periodicTasks: [task('hourly'), { ...task('often'), interval: 10 }] });
  await eventually(() => runs.includes('hourly') && runs.includes('often'), { what: 'both tasks' });
  await app.stop();
  // Its next run is an hour away.
  expect(runs.filter((name) => name === 'hourly')).toHaveLength(1);
});

test('a service that stops before the first run of a periodic task does not run it', async () => {
  const { run } = probe(0, { firstRunWithin: 1_000_000 });
  let runs = 0;
  const work = async () => {
    runs += 1;
    return false;
  };
  const app = await run({ periodicTasks: [{ name: 'hourly', work }] });
  await app.stop();
  expect(runs).toBe(0);
});
