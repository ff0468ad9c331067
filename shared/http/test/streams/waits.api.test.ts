import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isDatabaseStuck, type Knex, observeDatabase, openDatabase } from '@tocsin/postgres';
import { createMetrics } from '@tocsin/runtime';
import {
  asUser,
  type Client,
  createTestDatabase,
  eventually,
  httpClient,
  serve,
  tcpProxy,
  type TcpProxy,
  testApp,
} from '@tocsin/testing';
import { z } from 'zod';
import { type Contracts, endpoint, type HttpServer, implement } from '../../src/index.ts';

const shared = { tag: 'Things', scope: 'teams:write', reply: { status: 204 } } as const;
const body = z.strictObject({ seconds: z.number() });
const contracts = {
  read: {
    ...endpoint('GET', '/read/{seconds}', 'Read slowly'),
    ...shared,
    params: z.strictObject({ seconds: z.string() }),
  },
  write: { ...endpoint('POST', '/write', 'Write slowly'), ...shared, body },
} as const satisfies Contracts;

let proxy: TcpProxy;
let knex: Knex;
let server: HttpServer;
const database = await createTestDatabase();
const observer = openDatabase({ url: database.adminUrl, schema: 'public', application: 'observer', poolSize: 2 });
await observer.raw('create table written (seconds real)');
afterAll(async () => {
  await observer.destroy();
  await database.drop();
});

/** Starts a service with the two routes on a pool of ten connections. */
async function startService(deadlines: Record<string, number>): Promise<void> {
  proxy = await tcpProxy(database.adminUrl);
  knex = openDatabase({
    url: proxy.url,
    schema: 'public',
    application: 'waits',
    poolSize: 10,
    shared: true,
    deadlines,
  });
  const metrics = createMetrics('test');
  observeDatabase(knex, metrics);
  const routes = implement(contracts, {
    read: async ({ params }) => {
      await knex.raw('select pg_sleep(?)', [Number(params.seconds)]);
      return {};
    },
    write: async ({ body: { seconds } }) => {
      await knex.raw('insert into written select ? from pg_sleep(?)', [seconds, seconds]);
      return {};
    },
  });
  server = await serve(testApp({ routes, isStuck: () => isDatabaseStuck(knex), metrics }));
}
beforeEach(async () => startService({ silence: 300, probe: 600, cancel: 400, connect: 1_500, stuck: 500 }));
afterEach(async () => {
  proxy.restore();
  await server.close();
  await knex.destroy();
  await proxy.close();
});

const as = (id: number): Client => httpClient(server.url, asUser('test', { workspace: { id } }));

/** The number of statements that the server executes for the service. */
const running = async (): Promise<number> =>
  (
    await observer('pg_stat_activity')
      .where({ application_name: 'waits', state: 'active' })
      .andWhereRaw('datname = current_database()')
      .pluck('pid')
  ).length;
const runs = async (count: number) =>
  eventually(async () => (await running()) === count, { what: `${count} statements` });

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.slice(line.lastIndexOf(' ') + 1));
};

describe('a workspace with slow reads', () => {
  test('gets 429 beyond its share, with a Retry-After; another workspace is served all the time', async () => {
    const slow = Array.from({ length: 12 }, async () => as(1).get('/read/30'));
    await runs(3);
    for (let count = 0; count < 10; count += 1) expect((await as(2).get('/read/0')).status).toBe(204);
    expect(await metric('tocsin_database_connections_in_use')).toBe(3);
    expect(await metric('tocsin_database_waiting')).toBe(9);
    const answers = await Promise.all(slow);
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: answers.filter(({ status }) => status === 429).length }, () => 429),
      ...Array.from({ length: answers.filter(({ status }) => status === 503).length }, () => 503),
    ]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ code: 'rate_limited', details: { retry_after_seconds: 1 } });
    expect(refused?.headers.get('Retry-After')).toBe('1');
    expect(await metric('tocsin_database_refused_total{reason="share"')).toBeGreaterThan(0);
    await runs(0);
  });

  test('has each of them cancelled after two seconds: 503', async () => {
    const { status, body: answer } = await as(1).get('/read/30');
    expect([status, answer.code]).toEqual([503, 'service_unavailable']);
    await runs(0);
    expect(await metric('tocsin_database_cancelled_total{reason="timeout"')).toBe(1);
  });
});

describe('a client that closes its connection', () => {
  const leave = async (request: (signal: AbortSignal) => Promise<unknown>) => {
    const client = new AbortController();
    const answer = request(client.signal).catch(() => undefined);
    await runs(1);
    client.abort();
    await answer;
  };
  const headers = { ...asUser('test'), 'Content-Type': 'application/json' };

  test('ends its read in the database', async () => {
    await leave(async (signal) => fetch(`${server.url}/read/1.9`, { headers, signal }));
    await eventually(async () => (await metric('tocsin_database_cancelled_total{reason="client_gone"')) === 1, {
      what: 'the cancelled statement',
    });
    await runs(0);
  });

  test('ends its write: the gateway keeps the connection of one that it does not give up', async () => {
    const text = JSON.stringify({ seconds: 8 });
    await leave(async (signal) => fetch(`${server.url}/write`, { method: 'POST', headers, signal, body: text }));
    await eventually(async () => (await metric('tocsin_database_cancelled_total{reason="client_gone"')) === 1, {
      what: 'the cancelled statement',
    });
    await runs(0);
    expect(await observer('written').where({ seconds: 8 })).toEqual([]);
  });
});

test('a pool in which nothing ends makes /healthz 503', async () => {
  const health = async () => (await httpClient(server.url).get('/healthz')).status;
  expect(await health()).toBe(200);
  const held = Promise.withResolvers<void>();
  const transactions = Array.from({ length: 10 }, async () =>
    knex.transaction(async (trx) => {
      await trx.raw('select 1');
      await held.promise;
    }),
  );
  await eventually(async () => (await health()) === 503, { what: 'the stuck pool' });
  held.resolve();
  await Promise.allSettled(transactions);
  await knex.raw('select 1');
  expect(await health()).toBe(200);
});
