import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Envelope, QUEUES } from '@tocsin/schemas';
import { createMetrics, type Metrics, type PeriodicTask } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import {
  type Broker,
  MemoryBroker,
  outbox,
  type OutgoingMessage,
  type PublishOutcome,
  startRelay,
} from '../src/index.ts';
import { collect, type Inbox, QUICK_RETRIES, silent } from './brokers.ts';
import { incidentCreated, messagingDatabase, openPool, unboundEvent } from './database.ts';

let broker: MemoryBroker;
let metrics: Metrics;
const relays: PeriodicTask[] = [];
const database = await messagingDatabase();
afterAll(async () => database.drop());
beforeEach(() => {
  broker = new MemoryBroker({ retryDelays: QUICK_RETRIES });
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map(async (relay) => relay.stop()));
  await broker.close();
  await database.knex('outbox').delete();
  await database.knex('dead_letters').delete();
});

function relayTo(target: Broker): PeriodicTask {
  metrics = createMetrics('test');
  const relay = startRelay({ database: database.knex, broker: target, log: silent, metrics });
  relays.push(relay);
  return relay;
}

/** Commits one event for each reference, and wakes the relays. */
async function record(...references: string[]): Promise<void> {
  await database.knex.transaction(async (trx) => outbox(trx).add(...references.map(incidentCreated)));
  for (const relay of relays) relay.wake();
}

/** Whether a relay publishes. */
async function isLocked(): Promise<boolean> {
  const { rows } = await database.knex.raw(`select from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`);
  return rows.length > 0;
}

const referencesIn = ({ bodies }: Inbox) =>
  bodies.map((body) => (JSON.parse(body) as Envelope<{ incident: { reference: string } }>).data.incident.reference);

/** A fake broker that returns the outcomes of `outcomeOf` and records the messages. */
function brokerWith(
  outcomeOf: (message: OutgoingMessage) => PublishOutcome,
): Broker & { published: OutgoingMessage[] } {
  const published: OutgoingMessage[] = [];
  return {
    published,
    connected: true,
    publish: async (messages) => {
      published.push(...messages);
      return messages.map(outcomeOf);
    },
    subscribe: () => ({ active: true, stop: async () => undefined }),
    close: async () => undefined,
  };
}

test('the metrics tell how long the oldest event waits', async () => {
  const age = async () => {
    const { values } = (await metrics.getSingleMetric('tocsin_outbox_oldest_seconds')?.get()) ?? { values: [] };
    return values[0]?.value ?? NaN;
  };
  relayTo(brokerWith(() => 'failed'));
  expect(await age()).toBe(0);
  await record('INC-1');
  await database.knex('outbox').update({ created_at: database.knex.raw(`now() - interval '90 seconds'`) });
  await record('INC-2');
  expect(await age()).toBeGreaterThanOrEqual(90);
  await database.knex('outbox').delete();
  expect(await age()).toBe(0);
});

describe('an event', () => {
  test('is published after its transaction has committed, in the envelope of the contract, and deleted', async () => {
    const inbox = collect(broker, QUEUES.webhookFeed);
    relayTo(broker);
    await record('INC-1');
    await eventually(async () => (await database.waiting()) === 0);
    expect(inbox.bodies).toHaveLength(1);
    const event = incidentCreated('INC-1');
    expect(JSON.parse(inbox.bodies[0]!)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'incident.created',
      schema_version: 1,
      occurred_at: event.occurredAt,
      workspace: event.workspace,
      request_id: event.requestId,
      data: event.data,
    });
  });

  test('does not wait for the next poll when the relay is woken', async () => {
    const inbox = collect(broker, QUEUES.webhookFeed);
    const relay = relayTo(broker);
    await record('INC-1');
    relay.wake();
    await relay.stop();
    expect(referencesIn(inbox)).toEqual(['INC-1']);
  });

  test('is kept while it is unroutable but should have a queue', async () => {
    const unroutable = brokerWith(() => 'unroutable');
    relayTo(unroutable);
    await record('INC-1');
    await eventually(() => unroutable.published.length > 2);
    expect(await database.waiting()).toBe(1);
  });

  test('is deleted when no queue is bound to its type', async () => {
    await database.knex('outbox').insert(unboundEvent());
    relayTo(broker);
    await eventually(async () => (await database.waiting()) === 0);
  });

  test('is not published while the broker is disconnected', async () => {
    let connected = false;
    const disconnected = brokerWith(() => 'confirmed');
    const relay = relayTo({
      ...disconnected,
      get connected() {
        return connected;
      },
    });
    await record('INC-1');
    relay.wake();
    relay.wake();
    await eventually(async () => (await metrics.metrics()).includes('tocsin_outbox_waiting{app="test"} 1'));
    expect(disconnected.published).toEqual([]);
    connected = true;
    await eventually(async () => (await database.waiting()) === 0);
    expect(disconnected.published).toHaveLength(1);
  });
});

describe('an event is stored as a dead letter', () => {
  test.each([
    ['dead-letter', 'rejected'],
    ['retry', 'delivery_limit'],
  ] as const)('when its consumer returns %s', async (disposition, reason) => {
    const inbox = collect(broker, QUEUES.webhookFeed, ({ body }) => (body.includes('"INC-1"') ? disposition : 'ack'));
    relayTo(broker);
    await record('INC-1', 'INC-2');
    await eventually(async () => (await database.waiting()) === 0);
    const [letter, ...others] = await database.knex('dead_letters').select('queue', 'type', 'body', 'reason');
    expect(letter).toMatchObject({ queue: QUEUES.webhookFeed.name, type: 'incident.created', reason });
    expect(letter.body).toContain('"INC-1"');
    expect(others).toEqual([]);
    expect(referencesIn(inbox)).toContain('INC-2');
  });

  test('of the queue that rejected it, once all other queues have handled it', async () => {
    const rejecting = collect(broker, QUEUES.incidentReplicas, () => 'dead-letter');
    const user = { id: 1, email: 'a@acme.example', name: 'A', active: true, seat: 'none', role: 'member' } as const;
    const { occurredAt, workspace, requestId } = incidentCreated('INC-1');
    const event = { type: 'user.changed', occurredAt, workspace, requestId, data: { version: 1, user } } as const;
    await database.knex.transaction(async (trx) => outbox(trx).add(event));
    relayTo(broker);
    await eventually(() => rejecting.bodies.length === 1);
    expect(await database.knex('dead_letters').select('queue')).toEqual([]);
    const accepting = collect(broker, QUEUES.catalogReplicas);
    await eventually(async () => (await database.waiting()) === 0);
    expect(await database.knex('dead_letters').pluck('queue')).toEqual([QUEUES.incidentReplicas.name]);
    expect([rejecting.bodies.length, accepting.bodies.length]).toEqual([1, 1]);
  });
});

describe('many events', () => {
  const references = Array.from({ length: 230 }, (_, index) => `INC-${index}`);

  test('are published in batches that grow with the backlog, up to 500 and to 4 MiB', async () => {
    const batches: { rows: number; bytes: number }[] = [];
    const counting: Broker = {
      ...brokerWith(() => 'confirmed'),
      publish: async (messages) => {
        const bytes = messages.reduce((sum, { body }) => sum + body.length, 0);
        batches.push({ rows: messages.length, bytes });
        return messages.map(() => 'confirmed');
      },
    };
    const insert = async (count: number, bytes: number) =>
      database.knex.raw(
        `insert into outbox (message_id, type, body)
         select gen_random_uuid(), 'incident.archived', repeat('x', ?) from generate_series(1, ?)`,
        [bytes, count],
      );
    await insert(1_100, 100);
    await insert(1, 5_000_000);
    await insert(9, 1_000_000);
    relayTo(counting).wake();
    await eventually(async () => (await database.waiting()) === 0);
    expect(batches).toEqual([
      { rows: 500, bytes: 50_000 },
      { rows: 500, bytes: 50_000 },
      { rows: 100, bytes: 10_000 },
      { rows: 1, bytes: 5_000_000 },
      { rows: 4, bytes: 4_000_000 },
      { rows: 4, bytes: 4_000_000 },
      { rows: 1, bytes: 1_000_000 },
    ]);
  });

  test('are published by one relay at a time, and by another one when that has ended', async () => {
    let publishing = 0;
    const most: number[] = [];
    const order: string[] = [];
    const slow: Broker = {
      ...brokerWith(() => 'confirmed'),
      batchSize: 10,
      publish: async (messages) => {
        most.push((publishing += 1));
        await new Promise((resolve) => setImmediate(resolve));
        order.push(...messages.map(({ body }) => JSON.parse(body).data.incident.reference as string));
        publishing -= 1;
        return messages.map(() => 'confirmed');
      },
    };
    await record(...references);
    const started = [1, 2, 3].map(() => relayTo(slow));
    for (const relay of started) relay.wake();
    await eventually(() => order.length > 20);
    await started[0]?.stop();
    await eventually(async () => (await database.waiting()) === 0);
    expect(Math.max(...most)).toBe(1);
    expect(order).toEqual(references);
  });

  test('do not keep the relays busy that do not publish', async () => {
    const confirms = Promise.withResolvers<void>();
    const stuck: Broker = {
      ...brokerWith(() => 'confirmed'),
      publish: async (messages) => {
        await confirms.promise;
        return messages.map(() => 'confirmed');
      },
    };
    await record('INC-1');
    relayTo(stuck).wake();
    await eventually(async () => isLocked());
    const pool = openPool(database.url);
    const client = pool.client as { transaction(...args: unknown[]): unknown };
    const transaction = client.transaction.bind(client);
    let looks = 0;
    client.transaction = (...args) => {
      looks += 1;
      return transaction(...args);
    };
    const idle = startRelay({ database: pool, broker, log: silent, metrics: createMetrics('idle') });
    try {
      const start = performance.now();
      for (let commit = 0; commit < 300; commit += 1) {
        await record(`INC-${commit}`);
        idle.wake();
      }
      // Without waits in between, it would look nearly as often as it is woken.
      expect(looks).toBeLessThanOrEqual((performance.now() - start) / 20 + 2);
    } finally {
      confirms.resolve();
      await eventually(async () => (await database.waiting()) === 0);
      await idle.stop();
      await pool.destroy();
    }
  });
});
