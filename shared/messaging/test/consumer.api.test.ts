import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { createMetrics, type Metrics } from '@tocsin/runtime';
import { eventually, type TcpProxy, tcpProxy } from '@tocsin/testing';
import {
  DELIVERY_LIMIT,
  type EventHandlers,
  MemoryBroker,
  outboxRow,
  type OutgoingMessage,
  startConsumer,
  type Subscription,
  INBOX_DAYS,
  sweepInbox,
} from '../src/index.ts';
import { publishSafely, QUICK_RETRIES, silent } from './brokers.ts';
import { incidentCreated, lockEffects, messagingDatabase, openPool } from './database.ts';

let broker: MemoryBroker;
let metrics: Metrics;
let consumer: Subscription | undefined;
const database = await messagingDatabase();
afterAll(async () => database.drop());
beforeEach(() => {
  broker = new MemoryBroker({ retryDelays: QUICK_RETRIES });
});
afterEach(async () => {
  await consumer?.stop();
  await broker.close();
  await database.knex('effects').delete();
  await database.knex('inbox').delete();
});

/** Inserts the incident's reference into `effects`; `before` runs in the same transaction and may fail. */
const recordEffects = (before: (reference: string) => void | Promise<void> = () => undefined): EventHandlers => ({
  'incident.created': async ({ data }, trx) => {
    await trx('effects').insert({ reference: data.incident.reference });
    await before(data.incident.reference);
  },
});

const references = (count: number) => Array.from({ length: count }, (_, index) => `INC-${index + 1}`);

function consume(handlers: EventHandlers, knex: Knex = database.knex): void {
  metrics = createMetrics('test');
  consumer = startConsumer({
    broker,
    database: knex,
    queue: QUEUES.webhookFeed,
    handlers,
    log: silent,
    metrics,
  });
}

function created(reference: string): OutgoingMessage {
  const row = outboxRow(incidentCreated(reference));
  return { id: row.message_id, type: row.type, body: row.body };
}

/** The number of messages with this outcome. */
async function count(outcome: string): Promise<number> {
  const family = metrics.getSingleMetric('tocsin_messages_consumed_total');
  const { values } = (await family?.get()) ?? { values: [] };
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
}

test('an event that is delivered many times concurrently has one effect', async () => {
  consume(recordEffects());
  const message = created('INC-1');
  await Promise.all(Array.from({ length: 8 }, async () => publishSafely(broker, message)));
  expect(await database.effects()).toEqual(['INC-1']);
});

test('an event without a handler is acknowledged', async () => {
  consume({});
  expect(await broker.publish([created('INC-1')])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual([]);
});

test('unknown members of an event are ignored', async () => {
  consume(recordEffects());
  const message = created('INC-1');
  const event = JSON.parse(message.body);
  const body = JSON.stringify({ ...event, trace: 'x', data: { ...event.data, more: 1 } });
  expect(await broker.publish([{ ...message, body }])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual(['INC-1']);
});

test('events are handled at the same time, each in a transaction of its own', async () => {
  let begun = 0;
  const both = Promise.withResolvers<void>();
  consume(
    recordEffects(async (reference) => {
      if (reference === 'INC-3') throw new Error('never');
      if ((begun += 1) === 2) both.resolve();
      await both.promise;
    }),
  );
  expect(await broker.publish(['INC-1', 'INC-2', 'INC-3'].map(created))).toEqual(['confirmed', 'confirmed', 'failed']);
  expect((await database.effects()).toSorted()).toEqual(['INC-1', 'INC-2']);
});

test('a handler that fails is rolled back, and gets the event again', async () => {
  let failures = 0;
  consume(
    recordEffects(() => {
      if ((failures += 1) < 3) throw new Error('not today');
    }),
  );
  expect(await publishSafely(broker, created('INC-1'))).toBe('confirmed');
  expect(await database.effects()).toEqual(['INC-1']);
  expect(await count('failed')).toBe(2);
  expect(await count('handled')).toBe(1);
});

describe('while the database is unreachable', () => {
  let proxy: TcpProxy;
  let knex: Knex;
  beforeEach(async () => {
    proxy = await tcpProxy(database.url);
    knex = openPool(proxy.url);
  });
  afterEach(async () => {
    proxy.restore();
    await consumer?.stop();
    consumer = undefined;
    await knex.destroy();
    await proxy.close();
  });

  test('an event waits without a counted failure', async () => {
    let attempts = 0;
    consume(
      recordEffects(() => {
        attempts += 1;
        if (attempts === 1) proxy.cut();
      }),
      knex,
    );
    const published = broker.publish([created('INC-1')]);
    await eventually(() => attempts === 1);
    proxy.restore();
    expect(await published).toEqual(['confirmed']);
    expect(await database.effects()).toEqual(['INC-1']);
    expect(await count('failed')).toBe(0);
  });

  test('a consumer that stops requeues its events', async () => {
    proxy.cut();
    consume(recordEffects(), knex);
    const message = created('INC-1');
    const published = broker.publish([message]);
    await consumer?.stop();
    expect(await published).toEqual(['failed']);
    expect(await count('failed')).toBe(0);

    consume(recordEffects());
    expect(await publishSafely(broker, message)).toBe('confirmed');
    expect(await database.effects()).toEqual(['INC-1']);
  });
});

describe('a database that cancels statements', () => {
  let knex: Knex;
  beforeEach(() => {
    knex = openPool(database.url, 100);
  });
  afterEach(async () => {
    await consumer?.stop();
    consumer = undefined;
    await knex.destroy();
  });

  test('because somebody has locked a table, is waited for, however long it takes', async () => {
    const unlock = await lockEffects(database.knex);
    consume(recordEffects(), knex);
    const messages = references(5).map(created);
    await eventually(async () => {
      expect(await broker.publish(messages)).toEqual(messages.map(() => 'failed'));
      return (await count('returned')) > DELIVERY_LIMIT;
    });
    await unlock();
    for (const message of messages) expect(await publishSafely(broker, message)).toBe('confirmed');
    expect((await database.effects()).toSorted()).toEqual(references(5));
    expect(await count('failed')).toBe(0);
  });

  test('for one message alone, makes that a dead letter, while others pass', async () => {
    consume(
      {
        'incident.created': async ({ data: { incident } }, trx) => {
          if (incident.reference === 'INC-1') await trx.raw('select pg_sleep(10)');
          await trx('effects').insert({ reference: incident.reference });
        },
      },
      knex,
    );
    const poison = publishSafely(broker, created('INC-1'));
    let [passed, isDead] = [0, false];
    void poison.finally(() => (isDead = true));
    while (!isDead) {
      await publishSafely(broker, created(`INC-${passed + 2}`));
      passed += 1;
    }
    expect(await poison).toEqual({ deadLetters: [{ queue: QUEUES.webhookFeed.name, reason: 'delivery_limit' }] });
    expect(await count('failed')).toBe(DELIVERY_LIMIT);
    expect(await database.effects()).toHaveLength(passed);
  });
});

test('the inbox deletes rows of events that cannot be delivered again', async () => {
  consume(recordEffects());
  await broker.publish([created('INC-1'), created('INC-2')]);
  const inbox = () => database.knex('inbox');
  const daysAgo = (days: number) => ({ received_at: database.knex.raw(`now() - interval '${days} days'`) });
  const [old, recent] = await inbox().select('message_id');
  await inbox().where(old).update(daysAgo(8));
  await inbox().where(recent).update(daysAgo(6));
  expect(await sweepInbox(database.knex, INBOX_DAYS + 2)).toBe(false);
  expect(await inbox().select('message_id')).toHaveLength(2);
  expect(await sweepInbox(database.knex, INBOX_DAYS)).toBe(false);
  expect(await inbox().select('message_id')).toEqual([recent]);
});
