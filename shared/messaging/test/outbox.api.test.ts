import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Envelope, QUEUES } from '@tocsin/contracts';
import { createMetrics, type Metrics, type Sweep } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import {
  type Broker,
  MemoryBroker,
  outbox,
  type OutgoingMessage,
  type PublishOutcome,
  startRelay,
} from '../src/index.ts';
import { collect, type Inbox, silent } from './brokers.ts';
import { incidentArchived, incidentCreated, type MessagingDatabase, messagingDatabase } from './database.ts';

let database: MessagingDatabase;
let broker: MemoryBroker;
let metrics: Metrics;
const relays: Sweep[] = [];
beforeAll(async () => {
  database = await messagingDatabase();
});
afterAll(async () => database.drop());
beforeEach(() => {
  broker = new MemoryBroker();
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map(async (relay) => relay.stop()));
  await broker.close();
  await database.knex('outbox').delete();
});

function relayTo(target: Broker): Sweep {
  metrics = createMetrics('test');
  const relay = startRelay({ database: database.knex, broker: target, log: silent, metrics });
  relays.push(relay);
  return relay;
}

/** Commits one event a reference. */
async function record(...references: string[]): Promise<void> {
  await database.knex.transaction(async (trx) => outbox(trx).add(...references.map(incidentCreated)));
}

const referencesIn = ({ bodies }: Inbox) =>
  bodies.map((body) => (JSON.parse(body) as Envelope<{ incident: { reference: string } }>).data.incident.reference);

/** A broker that answers as told and remembers what it was given. */
function brokerThat(answer: (message: OutgoingMessage) => PublishOutcome): Broker & { published: OutgoingMessage[] } {
  const published: OutgoingMessage[] = [];
  return {
    published,
    connected: true,
    publish: async (messages) => {
      published.push(...messages);
      return messages.map(answer);
    },
    subscribe: () => ({ stop: async () => undefined }),
    close: async () => undefined,
  };
}

describe('an event', () => {
  test('is published once its transaction has committed, in the envelope of the contract, and is gone then', async () => {
    const inbox = collect(broker, QUEUES.webhookIncidents);
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

  test('of a transaction that did not commit never leaves', async () => {
    const inbox = collect(broker, QUEUES.webhookIncidents);
    relayTo(broker);
    await expect(
      database.knex.transaction(async (trx) => {
        await outbox(trx).add(incidentCreated('INC-1'));
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await record('INC-2');
    await eventually(async () => (await database.waiting()) === 0);
    expect(referencesIn(inbox)).toEqual(['INC-2']);
  });

  test('does not wait for the next sweep when the relay is woken', async () => {
    const inbox = collect(broker, QUEUES.webhookIncidents);
    const relay = relayTo(broker);
    await record('INC-1');
    relay.wake();
    await relay.stop();
    expect(referencesIn(inbox)).toEqual(['INC-1']);
  });

  test('keeps its ID from one attempt to the next, so that its consumers know it again', async () => {
    let attempts = 0;
    const flaky = brokerThat(() => ((attempts += 1) < 3 ? 'failed' : 'confirmed'));
    relayTo(flaky);
    await record('INC-1');
    await eventually(async () => (await database.waiting()) === 0);
    expect(flaky.published).toHaveLength(3);
    expect(new Set(flaky.published.map(({ id }) => id)).size).toBe(1);
  });

  test('stays while no queue takes it that should', async () => {
    const deaf = brokerThat(() => 'unroutable');
    relayTo(deaf);
    await record('INC-1');
    await eventually(() => deaf.published.length > 2);
    expect(await database.waiting()).toBe(1);
  });

  test('goes when there is nobody whom it could interest', async () => {
    relayTo(broker);
    await database.knex.transaction(async (trx) => outbox(trx).add(incidentArchived('INC-1')));
    await eventually(async () => (await database.waiting()) === 0);
  });

  test('waits while the broker is away', async () => {
    let connected = false;
    const away = brokerThat(() => 'confirmed');
    const relay = relayTo({
      ...away,
      get connected() {
        return connected;
      },
    });
    await record('INC-1');
    relay.wake();
    relay.wake();
    await eventually(async () => (await metrics.metrics()).includes('tocsin_outbox_waiting{app="test"} 1'));
    expect(away.published).toEqual([]);
    connected = true;
    await eventually(async () => (await database.waiting()) === 0);
    expect(away.published).toHaveLength(1);
  });
});

describe('many events', () => {
  const references = Array.from({ length: 230 }, (_, index) => `INC-${index}`);

  test('are published oldest first', async () => {
    const inbox = collect(broker, QUEUES.webhookIncidents);
    await record(...references);
    relayTo(broker).wake();
    await eventually(async () => (await database.waiting()) === 0);
    expect(referencesIn(inbox)).toEqual(references);
  });

  test('are published once each, however many relays there are', async () => {
    const inbox = collect(broker, QUEUES.webhookIncidents);
    await record(...references);
    for (const relay of [1, 2, 3].map(() => relayTo(broker))) relay.wake();
    await eventually(async () => (await database.waiting()) === 0);
    expect(referencesIn(inbox).toSorted()).toEqual(references.toSorted());
  });

  test('are not held up by one that the broker does not take', async () => {
    const choosy = brokerThat(({ body }) => (body.includes('"INC-0"') ? 'failed' : 'confirmed'));
    await record(...references);
    relayTo(choosy).wake();
    await eventually(async () => (await database.waiting()) === 1);
  });
});
