import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deadLetterQueueName, QUEUES, queueName } from '@tocsin/schemas';
import { eventually, type Receiver, startReceiver, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { type ChannelModel, connect } from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type GrowthLoad, growthLoad, RECEIVER_ADDRESSES } from './growth-load.ts';
import { documentedTables } from './growth-table.ts';
import { NO_RETENTION } from '../../../../services/incident/src/retention/domain/retention.ts';
import { startSystem, type System } from '../../systems/system.ts';

const DAY = 86_400_000;
const ROUNDS = 7;
/** The round after which caches, pools and compiled code have almost their size. */
const WARM = 4;
/** Bytes that each action may seem to keep: less than a leaked request, response or timer with its closure takes. */
const TOLERANCE = 2_048;

/** How old rows become whose age the database's clock tells: longer than they are kept. */
const AGES = [
  ['gateway.idempotency_keys', 'claimed_at', '25 hours'],
  ['incident.idempotency_keys', 'claimed_at', '25 hours'],
  ['catalog.idempotency_keys', 'claimed_at', '25 hours'],
  ['gateway.audit_log', 'occurred_at', '401 days'],
  ['gateway.inbox', 'received_at', '8 days'],
  ['incident.inbox', 'received_at', '8 days'],
  ['catalog.inbox', 'received_at', '8 days'],
  ['webhook.inbox', 'received_at', '8 days'],
] as const;

/** Only younger rows: the apps delete the others meanwhile. */
const AGE = AGES.map(
  ([table, time, age]) =>
    `update ${table} set ${time} = ${time} - interval '${age}' where ${time} > now() - interval '${age}'`,
).join(';');

const LIMIT_AUDIT_LOG = `
  insert into incident.retentions (workspace_id, revision, retention, set_by)
    select id, 2, '${JSON.stringify({ ...NO_RETENTION, audit_log: { days: 400, startsAt: '2026-01-01T00:00:00.000Z' } })}', '{}'
    from gateway.workspaces on conflict do nothing`;

/** Tables that are empty again when the time of their rows has passed. */
const EMPTY = [
  'gateway.audit_log',
  'gateway.idempotency_keys',
  'gateway.inbox',
  'incident.idempotency_keys',
  'incident.inbox',
  'incident.outbox',
  'incident.timeline_events',
  'catalog.inbox',
  'catalog.outbox',
  'custom_field.outbox',
  'gateway.outbox',
  'webhook.inbox',
  'webhook.outbox',
  'webhook.events',
  'webhook.feed_events',
  'webhook.deliveries',
  'webhook.attempts',
  'webhook.windows',
  'webhook.slots',
  'webhook.host_addresses',
];

/** What PTTL returns for such a key. */
const NO_EXPIRY = -1;

/** Read once: the names are slices of the guide's text, which would stay in memory with them after each round. */
const TABLES = documentedTables();

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** What one round leaves behind. */
interface State {
  rows: Map<string, number>;
  heap: number;
  redisKeys: number;
  /** Sockets and timers of this process. */
  handles: number;
}

describeWithServers('rounds of creates, changes, deletes and deliveries', () => {
  const states: State[] = [];
  /** The number of actions in each round. */
  const actions: number[] = [];
  let load: GrowthLoad;
  let receiver: Receiver;
  let system: System;
  let administrator: pg.Client;
  let broker: ChannelModel;
  // Not as the apps open it: the collection of garbage may take longer than they wait for an answer.
  const redis = new Redis(testServers().redisUrl ?? '', { lazyConnect: true });
  /** How much the webhook service's clock is ahead. */
  let ahead = 0;

  beforeAll(async () => {
    receiver = await startReceiver({ host: '0.0.0.0', names: RECEIVER_ADDRESSES });
    system = await startSystem({
      receivers: RECEIVER_ADDRESSES.map((address) => ({
        ca: receiver.ca,
        hostAndPort: () => receiver.hostAndPort(address),
      })),
      webhookClock: { now: () => new Date(Date.now() + ahead).toISOString() },
      firstRunWithin: 100,
      taskInterval: 500,
      settings: { DATABASE_POOL_SIZE: '5' },
    });
    administrator = new pg.Client({ connectionString: system.database.adminUrl });
    await administrator.connect();
    broker = await connect(testServers().amqpUrl ?? '');
    load = await growthLoad(system, receiver);
    for (let round = 1; round <= ROUNDS; round += 1) {
      actions.push(await load.round());
      await drainQueues();
      await passTime();
      states.push(await stateNow());
    }
  });
  afterAll(async () => {
    redis.disconnect();
    await broker.close();
    await administrator.end();
    await system.stop();
    await receiver.stop();
  });

  /** Waits until nothing is under way between the services. */
  async function drainQueues(): Promise<void> {
    const channel = await broker.createChannel();
    await eventually(
      async () => {
        for (const table of ['gateway.outbox', 'incident.outbox', 'webhook.outbox', 'webhook.slots']) {
          if ((await countRows(table)) > 0) return false;
        }
        for (const queue of Object.values(QUEUES)) {
          if ((await channel.checkQueue(queueName(system.namespace, queue))).messageCount > 0) return false;
        }
        const { rows } = await administrator.query(`select 1 from webhook.deliveries where status = 'queued' limit 1`);
        return rows.length === 0;
      },
      { what: 'the end of all deliveries' },
    );
    for (const queue of Object.values(QUEUES)) {
      const { messageCount } = await channel.checkQueue(deadLetterQueueName(system.namespace, queue));
      expect([queue.name, messageCount]).toEqual([queue.name, 0]);
    }
    await channel.close();
  }

  /** More time than anything is kept; waits until the apps' own tasks have deleted it. */
  async function passTime(): Promise<void> {
    ahead += 31 * DAY;
    await administrator.query(LIMIT_AUDIT_LOG);
    let filled: string[] = [];
    const end = eventually(
      async () => {
        // Again each time: a queue without messages says nothing of those that a consumer still handles.
        await administrator.query(AGE);
        filled = [];
        for (const table of EMPTY) if ((await countRows(table)) > 0) filled.push(table);
        return filled.length === 0;
      },
      { what: 'the end of all sweeps' },
    );
    await end.catch((error: unknown) => {
      throw new Error(`rows are left in ${filled.join(', ')}`, { cause: error });
    });
  }

  async function countRows(table: string): Promise<number> {
    const { rows } = await administrator.query<{ rows: number }>(`select count(*)::integer as rows from ${table}`);
    return rows[0]?.rows ?? 0;
  }

  async function stateNow(): Promise<State> {
    const rows = new Map<string, number>();
    for (const { name } of TABLES) rows.set(name, await countRows(name));
    receiver.requests.length = 0;
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    // What the first collection finalizes is free after the second one.
    await new Promise(setImmediate);
    collectGarbage();
    return {
      rows,
      heap: process.memoryUsage().heapUsed,
      redisKeys: await countKeys(),
      handles: process.getActiveResourcesInfo().length,
    };
  }

  /** Counts the keys that do not expire. How many others there are depends on the moment. */
  async function countKeys(): Promise<number> {
    const keys = new Set<string>();
    let cursor = '0';
    do {
      const [next, page] = await redis.scan(cursor, 'MATCH', `${system.namespace}:*`, 'COUNT', 1_000);
      for (const key of page) {
        if ((await redis.pttl(key)) === NO_EXPIRY) keys.add(key);
      }
      cursor = next;
    } while (cursor !== '0');
    return keys.size;
  }

  const after = (round: number) => states[round - 1]!;

  test('are more than a thousand actions', () => {
    expect(sum(actions)).toBeGreaterThan(1_500);
    expect(after(ROUNDS).rows.get('incident.incidents')).toBe(ROUNDS * load.incidentsPerRound);
  });

  test('only tables grow whose rows nothing removes, as the guide says', () => {
    const grown = TABLES.filter(({ name }) => (after(ROUNDS).rows.get(name) ?? 0) > (after(WARM).rows.get(name) ?? 0));
    expect(grown.filter(({ removed }) => !removed.startsWith('nothing')).map(({ name }) => name)).toEqual([]);
    // Otherwise the load would show nothing.
    expect(grown.map(({ name }) => name)).toEqual(expect.arrayContaining(['incident.incidents', 'incident.changelog']));
  });

  test('no process keeps memory, timers or connections, and no key stays in Redis', () => {
    expect(after(ROUNDS).heap - after(WARM).heap).toBeLessThan(TOLERANCE * sum(actions.slice(WARM)));
    expect(after(ROUNDS).handles - after(WARM).handles).toBeLessThan(20);
    expect(after(ROUNDS).redisKeys).toBeLessThanOrEqual(after(WARM).redisKeys);
  });
});
