import type { Envelope } from '@tocsin/contracts';
import { eventually } from '@tocsin/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { Releases } from './fleet.ts';

/** An observer of one installation's exchange and queues. */
export interface BrokerProbe {
  /** Every event that was published since the probe was opened. */
  readonly events: readonly Envelope[];
  publish(event: Envelope): Promise<void>;
  /** Waits until the consumers have taken all messages. @throws Error naming the queue that does not become empty */
  waitUntilConsumed(): Promise<void>;
  /** Takes all dead letters, and describes each by its queue and type. */
  takeDeadLetters(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens a probe; the exchange must exist. */
export async function openBrokerProbe(options: {
  url: string;
  namespace: string;
  releases: Releases;
}): Promise<BrokerProbe> {
  const { namespace, releases } = options;
  const exchange = releases.old.contracts.exchangeName(namespace);
  const connection = await connect(options.url, { timeout: 5_000 });
  connection.on('error', () => undefined);
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, exchange, '#');
  const events: Envelope[] = [];
  await channel.consume(
    queue,
    (message) => {
      if (message !== null) events.push(JSON.parse(message.content.toString()) as Envelope);
    },
    { noAck: true },
  );
  const names = queuesOf(releases, namespace);
  return {
    events,
    publish: async (event) => {
      channel.publish(exchange, event.type, Buffer.from(JSON.stringify(event)), {
        persistent: true,
        messageId: event.id,
        type: event.type,
        contentType: 'application/json',
      });
      await channel.waitForConfirms();
    },
    waitUntilConsumed: async () => {
      for (const { name, ofOld } of names) {
        const isConsumed = async () => {
          const state = await stateOf(connection, name);
          // Only a queue that the old release does not know may wait for its consumer.
          return ofOld ? state.consumers > 0 && state.messages === 0 : state.consumers === 0 || state.messages === 0;
        };
        await eventually(isConsumed, { what: `the consumption of all messages in ${name}` });
      }
    },
    takeDeadLetters: async () => {
      const found: string[] = [];
      for (const { name, dead } of names) {
        if ((await stateOf(connection, dead)).messages === 0) continue;
        found.push(...(await takeAll(connection, dead)).map((type) => `${type} from ${name}`));
      }
      return found;
    },
    close: async () => connection.close(),
  };
}

/** The queues of both releases. */
function queuesOf(releases: Releases, namespace: string): { name: string; dead: string; ofOld: boolean }[] {
  const queues = new Map<string, { name: string; dead: string; ofOld: boolean }>();
  for (const { name: release, contracts } of [releases.old, releases.new]) {
    for (const queue of Object.values(contracts.QUEUES)) {
      const name = contracts.queueName(namespace, queue);
      const known = queues.get(name);
      const ofOld = release === 'old' || known?.ofOld === true;
      queues.set(name, { name, dead: contracts.deadLetterQueueName(namespace, queue), ofOld });
    }
  }
  return [...queues.values()];
}

/** A question about a queue that does not exist closes the channel. */
async function withChannel<Result>(
  connection: ChannelModel,
  fallback: Result,
  work: (channel: Channel) => Promise<Result>,
): Promise<Result> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  try {
    const result = await work(channel);
    await channel.close();
    return result;
  } catch (error) {
    if ((error as { code?: number }).code === NOT_FOUND) return fallback;
    throw error;
  }
}

const NOT_FOUND = 404;

const stateOf = async (connection: ChannelModel, queue: string) =>
  withChannel(connection, { messages: 0, consumers: 0 }, async (channel) => {
    const { messageCount, consumerCount } = await channel.checkQueue(queue);
    return { messages: messageCount, consumers: consumerCount };
  });

/** Removes all messages of a queue; returns their types. */
const takeAll = async (connection: ChannelModel, queue: string) =>
  withChannel<string[]>(connection, [], async (channel) => {
    const types: string[] = [];
    for (let message = await channel.get(queue); message !== false; message = await channel.get(queue)) {
      types.push(String(message.properties.type ?? message.fields.routingKey));
      channel.ack(message);
    }
    return types;
  });

/** Deletes the queues and the exchange of both releases. */
export async function removeTopologies(options: { url: string; namespace: string; releases: Releases }): Promise<void> {
  const connection = await connect(options.url, { timeout: 5_000 });
  connection.on('error', () => undefined);
  try {
    for (const { name, dead } of queuesOf(options.releases, options.namespace)) {
      for (const queue of [name, dead]) {
        await withChannel<unknown>(connection, undefined, async (channel) => channel.deleteQueue(queue));
      }
    }
    const exchange = options.releases.new.contracts.exchangeName(options.namespace);
    await withChannel<unknown>(connection, undefined, async (channel) => channel.deleteExchange(exchange));
  } finally {
    await connection.close();
  }
}
