import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/contracts';
import { createMetrics, type Knex, type Metrics } from '@tocsin/runtime';
import { eventually, type TcpProxy, tcpProxy } from '@tocsin/testing';
import {
  DELIVERY_LIMIT,
  type EventHandlers,
  MemoryBroker,
  outboxRow,
  type OutgoingMessage,
  startConsumer,
  type Subscription,
  sweepInbox,
} from '../src/index.ts';
import { newMessage, publishSafely, silent } from './brokers.ts';
import { incidentCreated, type MessagingDatabase, messagingDatabase, openPool } from './database.ts';

let database: MessagingDatabase;
let broker: MemoryBroker;
let metrics: Metrics;
let consumer: Subscription | undefined;
beforeAll(async () => {
  database = await messagingDatabase();
});
afterAll(async () => database.drop());
beforeEach(() => {
  broker = new MemoryBroker();
});
afterEach(async () => {
  await consumer?.stop();
  await broker.close();
  await database.knex('effects').delete();
  await database.knex('inbox').delete();
});

/** Leaves the incident's reference behind; what a test does before that may fail. */
const leavingTraces = (before: (reference: string) => void | Promise<void> = () => undefined): EventHandlers => ({
  'incident.created': async ({ data }, trx) => {
    await trx('effects').insert({ reference: data.incident.reference });
    await before(data.incident.reference);
  },
});

function consume(handlers: EventHandlers, more: { knex?: Knex; onCommit?: () => void } = {}): void {
  const { knex = database.knex, ...rest } = more;
  metrics = createMetrics('test');
  consumer = startConsumer({
    broker,
    database: knex,
    queue: QUEUES.webhookIncidents,
    handlers,
    log: silent,
    metrics,
    ...rest,
  });
}

function created(reference: string): OutgoingMessage {
  const row = outboxRow(incidentCreated(reference));
  return { id: row.message_id, type: row.type, body: row.body };
}

/** How many messages came to this end. */
async function count(outcome: string): Promise<number> {
  const family = metrics.getSingleMetric('tocsin_messages_consumed_total');
  const { values } = (await family?.get()) ?? { values: [] };
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
}

test('an event has its effect, and is over', async () => {
  let committed = 0;
  consume(leavingTraces(), { onCommit: () => (committed += 1) });
  expect(await broker.publish([created('INC-1')])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual(['INC-1']);
  expect(committed).toBe(1);
  expect(await count('handled')).toBe(1);
});

test('an event that comes again has no further effect', async () => {
  let committed = 0;
  consume(leavingTraces(), { onCommit: () => (committed += 1) });
  const message = created('INC-1');
  for (const _ of [1, 2, 3]) expect(await broker.publish([message])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual(['INC-1']);
  expect(committed).toBe(1);
  expect(await count('duplicate')).toBe(2);
});

test('an event that comes many times at once has one effect', async () => {
  consume(leavingTraces());
  const message = created('INC-1');
  await Promise.all(Array.from({ length: 8 }, async () => publishSafely(broker, message)));
  expect(await database.effects()).toEqual(['INC-1']);
});

test('an event that is none of the consumer’s business is over at once', async () => {
  consume({});
  expect(await broker.publish([created('INC-1')])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual([]);
});

test('what a newer publisher adds to an event is no reason to refuse it', async () => {
  consume(leavingTraces());
  const message = created('INC-1');
  const event = JSON.parse(message.body);
  const body = JSON.stringify({ ...event, trace: 'x', data: { ...event.data, more: 1 } });
  expect(await broker.publish([{ ...message, body }])).toEqual(['confirmed']);
  expect(await database.effects()).toEqual(['INC-1']);
});

describe('a malformed message is refused at the first sight, and the next one handled:', () => {
  const event = JSON.parse(created('INC-1').body);
  const cases = {
    'no JSON': 'certainly not',
    'no object': '[]',
    'no envelope': '{}',
    'an ID that is none': JSON.stringify({ ...event, id: '7' }),
    'a schema of the future': JSON.stringify({ ...event, schema_version: 2 }),
    'a type that nobody knows': JSON.stringify({ ...event, type: 'incident.exploded' }),
    'a type that every object has': JSON.stringify({ ...event, type: 'constructor' }),
    'data that are not those of its type': JSON.stringify({ ...event, data: { incident: { id: 'one' } } }),
  };
  test.each(Object.entries(cases))('%s', async (_, body) => {
    consume(leavingTraces());
    expect(await broker.publish([newMessage('incident.created', body)])).toEqual(['confirmed']);
    expect(await count('malformed')).toBe(1);
    expect(await broker.publish([created('INC-2')])).toEqual(['confirmed']);
    expect(await database.effects()).toEqual(['INC-2']);
  });
});

describe('a handler that fails', () => {
  test('leaves nothing behind, and gets the event again', async () => {
    let failures = 0;
    consume(
      leavingTraces(() => {
        if ((failures += 1) < 3) throw new Error('not today');
      }),
    );
    expect(await publishSafely(broker, created('INC-1'))).toBe('confirmed');
    expect(await database.effects()).toEqual(['INC-1']);
    expect(await count('failed')).toBe(2);
    expect(await count('handled')).toBe(1);
  });

  test('for ever does not get the event for ever', async () => {
    let attempts = 0;
    consume(
      leavingTraces((reference) => {
        if (reference !== 'INC-1') return;
        attempts += 1;
        throw new Error('never');
      }),
    );
    expect(await publishSafely(broker, created('INC-1'))).toBe('confirmed');
    expect(attempts).toBe(DELIVERY_LIMIT);
    expect(await broker.publish([created('INC-2')])).toEqual(['confirmed']);
    expect(await database.effects()).toEqual(['INC-2']);
  });
});

describe('while the database is away', () => {
  let proxy: TcpProxy;
  let knex: Knex;
  beforeEach(async () => {
    proxy = await tcpProxy(database.url);
    knex = openPool(proxy.url);
  });
  afterEach(async () => {
    proxy.mend();
    await consumer?.stop();
    consumer = undefined;
    await knex.destroy();
    await proxy.close();
  });

  test('an event waits, and nothing is counted against it', async () => {
    let attempts = 0;
    consume(
      leavingTraces(() => {
        attempts += 1;
        if (attempts === 1) proxy.cut();
      }),
      { knex },
    );
    const published = broker.publish([created('INC-1')]);
    await eventually(() => attempts === 1);
    proxy.mend();
    expect(await published).toEqual(['confirmed']);
    expect(await database.effects()).toEqual(['INC-1']);
    expect(await count('failed')).toBe(0);
  });

  test('a consumer that stops gives its events back', async () => {
    proxy.cut();
    consume(leavingTraces(), { knex });
    const message = created('INC-1');
    const published = broker.publish([message]);
    await consumer?.stop();
    expect(await published).toEqual(['failed']);
    expect(await count('interrupted')).toBe(1);

    consume(leavingTraces());
    expect(await publishSafely(broker, message)).toBe('confirmed');
    expect(await database.effects()).toEqual(['INC-1']);
  });
});

test('the inbox forgets what no broker still holds', async () => {
  consume(leavingTraces());
  await broker.publish([created('INC-1'), created('INC-2')]);
  const inbox = () => database.knex('inbox');
  const daysAgo = (days: number) => ({ received_at: database.knex.raw(`now() - interval '${days} days'`) });
  const [old, recent] = await inbox().select('message_id');
  await inbox().where(old).update(daysAgo(8));
  await inbox().where(recent).update(daysAgo(6));
  expect(await sweepInbox(database.knex)).toBe(false);
  expect(await inbox().select('message_id')).toEqual([recent]);
});
