import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { createMetrics, type PeriodicTask } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { type Broker, MemoryBroker, type NewEvent, outbox, type OutgoingMessage, startRelay } from '../src/index.ts';
import { queueRoom } from '../src/queue-room.ts';
import { silent } from './brokers.ts';
import { incidentArchived, incidentCreated, messagingDatabase } from './database.ts';

const relays: PeriodicTask[] = [];
const database = await messagingDatabase();
afterAll(async () => database.drop());
afterEach(async () => {
  await Promise.all(relays.splice(0).map(async (relay) => relay.stop()));
  await database.knex('outbox').delete();
});

/** Commits events of a workspace, together with those of others. */
async function record(workspaceId: number, references: readonly string[], others: NewEvent[] = []): Promise<void> {
  const events = [...references.map((reference) => eventOf(workspaceId, reference)), ...others];
  await database.knex.transaction(async (trx) => outbox(trx).add(...events));
  for (const relay of relays) relay.wake();
}

function eventOf(workspaceId: number, reference: string): NewEvent {
  const event = incidentCreated(reference);
  return { ...event, workspace: { ...event.workspace, id: workspaceId } };
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A broker that records the batches and confirms all messages. */
function recordingBroker(options: Partial<Broker> = {}): Broker & { batches: OutgoingMessage[][] } {
  const batches: OutgoingMessage[][] = [];
  return {
    batches,
    connected: true,
    publish: async (messages) => {
      batches.push([...messages]);
      return messages.map(() => 'confirmed');
    },
    subscribe: () => ({ active: true, stop: async () => undefined }),
    close: async () => undefined,
    ...options,
  };
}

function relayTo(broker: Broker): void {
  relays.push(startRelay({ database: database.knex, broker, log: silent, metrics: createMetrics('test') }));
}

const referenceOf = ({ body }: OutgoingMessage): string => JSON.parse(body).data.incident.reference;
const referencesOf = (batches: readonly OutgoingMessage[][]) => batches.flat().map(referenceOf);
const drained = async () => eventually(async () => (await database.waiting()) === 0);

test('a workspace does not wait behind what another one has queued, and each keeps its order', async () => {
  const flood = numbered('flood', 1_200);
  await record(1, flood);
  await record(2, ['own-1', 'own-2', 'own-3']);
  const broker = recordingBroker();
  relayTo(broker);
  await drained();
  expect(referencesOf(broker.batches.slice(0, 1))).toEqual(expect.arrayContaining(['own-1', 'own-2', 'own-3']));
  const published = referencesOf(broker.batches);
  expect(published.filter((reference) => reference.startsWith('flood'))).toEqual(flood);
  expect(published.filter((reference) => reference.startsWith('own'))).toEqual(['own-1', 'own-2', 'own-3']);
});

test('more workspaces than a batch has rows take turns, too', async () => {
  for (let id = 1; id <= 7; id += 1) await record(id, numbered(String(id), 3));
  const broker = recordingBroker({ batchSize: 3 });
  relayTo(broker);
  await drained();
  const first = referencesOf(broker.batches.slice(0, 3));
  expect(first).toEqual(['1-0', '2-0', '3-0', '4-0', '5-0', '6-0', '7-0', '7-1', '7-2']);
});

test('without a server, events that fail again and again leave room for others', async () => {
  const broker = new MemoryBroker({ retryDelays: [60_000] });
  const handled: string[] = [];
  broker.subscribe(QUEUES.webhookFeed, async ({ body }) => {
    const { workspace, data } = JSON.parse(body.toString());
    if (workspace.id === 1) return 'retry';
    handled.push(data.incident.reference);
    return 'ack';
  });
  await record(1, numbered('poison', 60));
  await record(2, ['INC-1']);
  relayTo(broker);
  await eventually(() => handled.length === 1);
});

test('while the queue of the feed is full, each workspace publishes a few events at a time', async () => {
  let waiting = 500;
  const broker = recordingBroker({ countWaiting: async () => waiting });
  relayTo(broker);
  // Without knowing what its events are, a relay asks for no queue.
  await record(1, ['INC-1']);
  await drained();

  await record(1, numbered('flood', 50), [eventOf(2, 'INC-2')]);
  await eventually(() => broker.batches.length > 1);
  expect(referencesOf(broker.batches.slice(1, 2))).toEqual(['flood-0', 'INC-2', ...numbered('flood', 6).slice(1)]);
  waiting = 0;
  await drained();
  expect(referencesOf(broker.batches)).toHaveLength(52);
});

describe('the room of a queue', () => {
  let time = 0;
  let asked = 0;
  let waiting: number | undefined = 0;
  const countWaiting = async () => {
    asked += 1;
    return waiting;
  };
  const batch = { rows: 500, bytes: 1, perWorkspace: 500 };
  const events = (count: number) => Array.from({ length: count }, () => incidentArchived('INC-1'));
  beforeEach(() => {
    [time, asked, waiting] = [0, 0, 0];
  });
  const open = () => {
    const room = queueRoom(recordingBroker({ countWaiting }), () => time);
    room.used(events(1));
    return { ...room, rows: async () => (await room.limits(batch))?.rows };
  };

  test('grows while the consumer takes everything, and is used up before the broker is asked again', async () => {
    const { rows, used } = open();
    const found = [];
    for (let nth = 0; nth < 4; nth += 1) {
      found.push(await rows());
      used(events(found.at(-1) ?? 0));
    }
    expect(found).toEqual([200, 400, 500, 500]);
    expect(asked).toBe(4);
    await rows();
    used(events(200));
    expect(await rows()).toBe(300);
    expect(asked).toBe(5);
  });

  test('is what a slow consumer takes in a quarter of a second', async () => {
    const { rows, used } = open();
    for (let nth = 0; nth < 3; nth += 1) used(events((await rows()) ?? 0));
    // It has taken 480 in half a second.
    [time, waiting] = [500, 20];
    expect(await rows()).toBe(220);
  });

  test('is used by a few events of each workspace at a time while there is none', async () => {
    const { limits, rows } = open();
    waiting = 450;
    const few = { ...batch, perWorkspace: 6 };
    expect(await limits(batch)).toEqual(few);
    time = 249;
    expect(await limits(batch)).toBeUndefined();
    time = 250;
    expect(await limits(batch)).toEqual(few);
    // The queue cannot be asked.
    waiting = undefined;
    expect(await rows()).toBe(200);
  });
});
