import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deadLetterQueueName, QUEUES, queueName } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { createMetrics, type Metrics } from '@tocsin/runtime';
import { eventually, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { AmqpBroker } from '../src/amqp.ts';
import {
  type BatchBounds,
  type Broker,
  recordInInbox,
  DELIVERY_LIMIT,
  MemoryBroker,
  outboxRow,
  type OutgoingMessage,
  type ReceivedEvent,
  startConsumer,
  type Subscription,
} from '../src/index.ts';
import { newMessage, type OpenBroker, openBroker, publishSafely, QUICK_RETRIES, silent } from './brokers.ts';
import { failEffects, incidentCreated, lockEffects, messagingDatabase, openPool, restoreEffects } from './database.ts';

const QUEUE = QUEUES.webhookFeed;

const database = await messagingDatabase();
afterAll(async () => database.drop());

function created(reference: string): OutgoingMessage {
  const row = outboxRow(incidentCreated(reference));
  return { id: row.message_id, type: row.type, body: row.body };
}

const references = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `INC-${from + index}`);

/** The tests of every broker. Each test starts its own. */
function describeBatches(start: () => Promise<OpenBroker>): void {
  let open: OpenBroker;
  let metrics: Metrics;
  let consumers: Subscription[];
  /** A pool whose statements are cancelled soon. */
  let impatient: Knex;
  /** The references of each transaction that began. */
  let batches: string[][];
  let committed: string[];
  beforeEach(async () => {
    open = await start();
    [consumers, batches, committed] = [[], [], []];
    metrics = createMetrics('test');
    impatient = openPool(database.url, 100);
  });
  afterEach(async () => {
    await Promise.all(consumers.map(async (consumer) => consumer.stop()));
    await impatient.destroy();
    await open.remove();
    await database.knex('effects').delete();
    await database.knex('inbox').delete();
  });

  const referenceOf = ({ event }: ReceivedEvent) =>
    (event.data as { incident: { reference: string } }).incident.reference;

  /** Inserts the references of new events into `effects`; `before` runs in the same transaction and may fail. */
  function consume(
    options: {
      broker?: Broker;
      knex?: Knex;
      bounds?: BatchBounds;
      before?: (of: string[], trx: Knex.Transaction) => unknown;
    } = {},
  ): Subscription {
    const { broker = open.broker, knex = database.knex, bounds, before } = options;
    const consumer = startConsumer({
      broker,
      database: knex,
      queue: QUEUE,
      handleBatch: async (events, trx) => {
        const all = events.map(referenceOf);
        batches.push(all);
        const ids = await recordInInbox(
          trx,
          QUEUE,
          events.map(({ event }) => event.id),
        );
        await before?.(all, trx);
        const fresh = events.filter(({ event }) => ids.has(event.id));
        if (fresh.length > 0) await trx('effects').insert(fresh.map((one) => ({ reference: referenceOf(one) })));
        return { handled: ids, onCommit: () => committed.push(...fresh.map(referenceOf)) };
      },
      log: silent,
      metrics,
      ...(bounds !== undefined && { bounds }),
    });
    consumers.push(consumer);
    return consumer;
  }

  async function count(outcome: string): Promise<number> {
    const family = metrics.getSingleMetric('tocsin_messages_consumed_total');
    const { values } = (await family?.get()) ?? { values: [] };
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
  }

  const publish = async (all: readonly string[]) => {
    await Promise.all(all.map(async (reference) => publishSafely(open.broker, created(reference))));
  };
  const handled = async (total: number) => eventually(async () => (await database.effects()).length >= total);

  test('many events are handled in few transactions, in the order of the queue', async () => {
    const all = references(300);
    const published = publish(all);
    if (open.broker instanceof AmqpBroker) await published;
    consume();
    await published;
    await handled(300);
    expect(await database.effects()).toEqual(all);
    expect(committed).toEqual(all);
    expect(batches.length).toBeLessThan(60);
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(128);
    expect(await count('handled')).toBe(300);
  });

  test('an event that cannot be handled is singled out, and becomes a dead letter', async () => {
    const all = references(12);
    const published = publish(all);
    let failures = 0;
    consume({
      before: (of) => {
        if (!of.includes('INC-5')) return;
        if (of.length === 1) failures += 1;
        throw new Error('never');
      },
    });
    await handled(11);
    await published;
    await eventually(() => failures === DELIVERY_LIMIT);
    expect(await database.effects()).toEqual(all.filter((reference) => reference !== 'INC-5'));
    expect(await count('failed')).toBe(DELIVERY_LIMIT);
    await publish(['INC-13']);
    await handled(12);
  });

  test('a malformed message is a dead letter at once, and the others are handled', async () => {
    const messages = [created('INC-1'), newMessage('incident.created', '{"id":'), created('INC-2')];
    const published = Promise.all(messages.map(async (message) => publishSafely(open.broker, message)));
    consume();
    await handled(2);
    await published;
    expect(await database.effects()).toEqual(['INC-1', 'INC-2']);
    expect(await count('malformed')).toBe(1);
  });

  test('events wait for a database that is away, and keep their order', async () => {
    const proxy = await tcpProxy(database.url);
    const knex = openPool(proxy.url);
    try {
      proxy.cut();
      const all = references(200);
      const published = publish(all);
      const consumer = consume({ knex });
      // A transaction cannot begin, so no batch does.
      await eventually(async () =>
        knex.raw('select 1').then(
          () => false,
          () => true,
        ),
      );
      await publishSafely(open.broker, newMessage('of.nobody'));
      expect(batches).toEqual([]);
      proxy.restore();
      await handled(200);
      await published;
      expect(await database.effects()).toEqual(all);
      expect(await count('failed')).toBe(0);
      await consumer.stop();
    } finally {
      await knex.destroy();
      await proxy.close();
    }
  });

  test('an event of an unknown type is ignored', async () => {
    const { body } = created('INC-1');
    const unknown = newMessage('incident.created', JSON.stringify({ ...JSON.parse(body), type: 'incident.exploded' }));
    const published = Promise.all([created('INC-2'), unknown].map(async (one) => publishSafely(open.broker, one)));
    consume();
    expect(await published).toEqual(['confirmed', 'confirmed']);
    await handled(1);
    await eventually(async () => (await count('unknown_type')) === 1);
    expect(await count('malformed')).toBe(0);
  });

  test('events wait for a table that somebody has locked, however often they are tried', async () => {
    const unlock = await lockEffects(database.knex);
    const all = references(5);
    const published = Promise.all(all.map(async (one) => publishSafely(open.broker, created(one))));
    // What is sent back goes behind what has not been in the queue.
    if (open.broker instanceof AmqpBroker) await published;
    const isTogether = (of: string[]) => of.length === all.length || !(open.broker instanceof AmqpBroker);
    try {
      consume({
        knex: impatient,
        // Between two events that are tried alone, the later ones would be the first.
        before: async (of) => {
          if (batches.length > DELIVERY_LIMIT && isTogether(of)) await unlock();
        },
      });
      await handled(5);
    } finally {
      await unlock();
    }
    expect(await published).toEqual(all.map(() => 'confirmed'));
    const effects = await database.effects();
    // The outbox is the queue of the broker in memory, and keeps the order.
    expect(open.broker instanceof AmqpBroker ? effects : effects.toSorted()).toEqual(all);
    expect(await count('failed')).toBe(0);
  });

  test('an event whose statements are cancelled becomes a dead letter, while others pass', async () => {
    consume({
      knex: impatient,
      before: async (of, trx) => {
        if (of.includes('INC-1')) await trx.raw('select pg_sleep(10)');
      },
    });
    const poison = publishSafely(open.broker, created('INC-1'));
    for (let next = 2; (await count('failed')) < DELIVERY_LIMIT; next += 1) {
      await publish([`INC-${next}`]);
      await handled(next - 1);
    }
    if (open.broker instanceof MemoryBroker) expect(await poison).toMatchObject({ deadLetters: [expect.anything()] });
    else await eventually(async () => (await open.broker.countDeadLetters?.(QUEUE)) === 1);
    expect(await database.effects()).not.toContain('INC-1');
  });

  test.each(['40P01', '40001', '55P03'])('a transaction that conflicts with %s is repeated', async (state) => {
    await failEffects(database.knex, state, 2);
    try {
      consume();
      await publish(references(5));
      await handled(5);
      expect(await database.effects()).toEqual(references(5));
      expect(await count('failed')).toBe(0);
    } finally {
      await restoreEffects(database.knex);
    }
  });

  test('a consumer that stops ends its batch, and the next one has all others, in their order', async () => {
    const all = references(100);
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const published = publish(all);
    if (open.broker instanceof AmqpBroker) await published;
    const first = consume({
      bounds: { messages: 30, bytes: 1_000_000, concurrent: 1 },
      before: async () => {
        begun.resolve();
        await finish.promise;
      },
    });
    await begun.promise;
    const next = open.broker instanceof AmqpBroker ? consume() : undefined;
    const stopped = first.stop();
    finish.resolve();
    await stopped;
    const done = await database.effects();
    expect(done.length).toBeGreaterThan(0);
    expect(done).toEqual(all.slice(0, done.length));
    if (next === undefined) consume();
    await published;
    await handled(100);
    expect(await database.effects()).toEqual(all);
    expect(await count('duplicate')).toBe(0);
  });
}

describe('batches with the broker in memory', () => {
  describeBatches(async () => {
    const broker = new MemoryBroker({ retryDelays: QUICK_RETRIES });
    return { broker, remove: async () => broker.close() };
  });

  test('a database that cannot work is waited for without a counted failure, however long it takes', async () => {
    const broker = new MemoryBroker({ retryDelays: QUICK_RETRIES });
    const metrics = createMetrics('test');
    const count = async (outcome: string) => {
      const family = metrics.getSingleMetric('tocsin_messages_consumed_total');
      return (await family?.get())?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
    };
    const consumer = startConsumer({
      broker,
      database: database.knex,
      queue: QUEUE,
      handleBatch: async (events, trx) => {
        const ids = events.map(({ event }) => event.id);
        await trx('of_the_next_release').insert(ids.map((id) => ({ id })));
        return { handled: new Set(ids) };
      },
      log: silent,
      metrics,
    });
    const messages = references(5).map(created);
    try {
      await eventually(async () => {
        expect(await broker.publish(messages)).toEqual(messages.map(() => 'failed'));
        return (await count('returned')) > 10;
      });
      await database.knex.schema.createTable('of_the_next_release', (table) => table.uuid('id'));
      await Promise.all(messages.map(async (message) => publishSafely(broker, message)));
      expect(new Set(await database.knex('of_the_next_release').pluck('id'))).toEqual(
        new Set(messages.map(({ id }) => id)),
      );
      expect(await count('failed')).toBe(0);
    } finally {
      await consumer.stop();
      await broker.close();
      await database.knex.schema.dropTableIfExists('of_the_next_release');
    }
  });
});

describeWithBroker('batches with the broker over AMQP', () => {
  const url = testServers().amqpUrl ?? '';

  describeBatches(async () => openBroker(url));

  test('of two processes one gets all events, and the other one takes over', async () => {
    const one = await openBroker(url);
    const two = await openBroker(url, { namespace: one.namespace });
    const received: string[][] = [[], []];
    const subscriptions = [one, two].map(({ broker }, index) =>
      broker.subscribe(QUEUE, async ({ body }) => {
        received[index]!.push(body.toString());
        return 'ack';
      }),
    );
    try {
      for (const body of ['1', '2', '3', '4']) await publishSafely(one.broker, newMessage('incident.created', body));
      await eventually(() => received.flat().length === 4);
      const active = received.findIndex(({ length }) => length > 0);
      expect(received[active]).toEqual(['1', '2', '3', '4']);
      await subscriptions[active]!.stop();
      for (const body of ['5', '6']) await publishSafely(one.broker, newMessage('incident.created', body));
      await eventually(() => received.flat().length === 6);
      expect(received[1 - active]).toEqual(['5', '6']);
    } finally {
      await Promise.all(subscriptions.map(async (subscription) => subscription.stop()));
      await two.broker.close();
      await one.remove();
    }
  });

  test('all that was handled is acknowledged, and nothing else', async () => {
    const { broker, namespace, remove } = await openBroker(url);
    const connection = await connect(url);
    const channel = await connection.createChannel();
    const waiting = async (name: string) => (await channel.checkQueue(name)).messageCount;
    try {
      const dispositions = ['ack', 'dead-letter', 'ack', 'ack', 'dead-letter', 'ack'] as const;
      let delivered = 0;
      const consumer = broker.subscribe(QUEUE, async () => {
        const disposition = dispositions[delivered % dispositions.length] ?? 'ack';
        delivered += 1;
        return disposition;
      });
      await broker.publish(Array.from({ length: 60 }, () => newMessage('incident.created')));
      await eventually(() => delivered === 60);
      await eventually(async () => (await waiting(deadLetterQueueName(namespace, QUEUE))) === 20);
      await consumer.stop();
      // Whatever was not acknowledged would be back now.
      expect(await waiting(queueName(namespace, QUEUE))).toBe(0);
      expect(delivered).toBe(60);
    } finally {
      await connection.close();
      await remove();
    }
  });
});
