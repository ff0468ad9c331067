import {
  deadLetterQueueName,
  exchangeName,
  HEALTH_TYPE,
  healthQueueName,
  type QueueDefinition,
  QUEUES,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import type { Channel, ChannelModel } from 'amqplib';
import { DELIVERY_LIMIT } from './broker.ts';

const ACCESS_REFUSED = 403;

/** What an installation has on the broker. */
export interface BrokerTopology {
  /** All are durable topic exchanges. */
  exchanges: readonly string[];
  /** All are durable. */
  queues: readonly { name: string; arguments: Readonly<Record<string, unknown>> }[];
  bindings: readonly { exchange: string; queue: string; routingKey: string }[];
}

/**
 * The exchanges, every queue and its dead-letter queue. The queues are quorum queues, because messages must survive the
 * loss of a node. Dead-lettering is at-least-once, because operators need rejected messages.
 */
export function brokerTopology(namespace: string): BrokerTopology {
  const [events, requeue] = [exchangeName(namespace), requeueExchangeName(namespace)];
  const definitions = Object.values<QueueDefinition>(QUEUES);
  const health = healthQueueName(namespace);
  return {
    exchanges: [events, requeue],
    queues: [
      { name: health, arguments: { 'x-queue-type': 'quorum', 'x-max-length': 1 } },
      ...definitions.flatMap((queue) => {
        const deadLetters = deadLetterQueueName(namespace, queue);
        return [
          { name: deadLetters, arguments: { 'x-queue-type': 'quorum' } },
          {
            name: queueName(namespace, queue),
            arguments: {
              'x-queue-type': 'quorum',
              // RabbitMQ counts the deliveries after the first.
              'x-delivery-limit': DELIVERY_LIMIT - 1,
              'x-dead-letter-exchange': '',
              'x-dead-letter-routing-key': deadLetters,
              'x-dead-letter-strategy': 'at-least-once',
              'x-overflow': 'reject-publish',
              ...(queue.singleActiveConsumer === true && { 'x-single-active-consumer': true }),
            },
          },
        ];
      }),
    ],
    bindings: [
      { exchange: events, queue: health, routingKey: HEALTH_TYPE },
      ...definitions.flatMap((queue) => {
        const name = queueName(namespace, queue);
        return [
          ...queue.bindings.map((type) => ({ exchange: events, queue: name, routingKey: type })),
          { exchange: requeue, queue: name, routingKey: queue.name },
        ];
      }),
    ],
  };
}

/** Declares everything. Idempotent. */
export async function declareTopology(channel: Channel, namespace: string): Promise<void> {
  const { exchanges, queues, bindings } = brokerTopology(namespace);
  for (const name of exchanges) await channel.assertExchange(name, 'topic', { durable: true });
  for (const queue of queues) {
    await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
  }
  for (const { exchange, queue, routingKey } of bindings) await channel.bindQueue(queue, exchange, routingKey);
}

/**
 * Declares everything, on a channel of its own. A user who may not do that has a broker whose definitions declare it
 * (ADR 75): then everything must exist.
 */
export async function ensureTopology(connection: ChannelModel, namespace: string): Promise<void> {
  try {
    await onOwnChannel(connection, async (channel) => declareTopology(channel, namespace));
  } catch (error) {
    if ((error as { code?: unknown }).code !== ACCESS_REFUSED) throw error;
    await onOwnChannel(connection, async (channel) => checkTopology(channel, namespace));
  }
}

/** Needs no permission. */
async function checkTopology(channel: Channel, namespace: string): Promise<void> {
  const { exchanges, queues } = brokerTopology(namespace);
  for (const name of exchanges) await channel.checkExchange(name);
  for (const { name } of queues) await channel.checkQueue(name);
}

async function onOwnChannel(connection: ChannelModel, work: (channel: Channel) => Promise<void>): Promise<void> {
  const channel = await openQuietly(connection);
  await work(channel);
  await channel.close();
}

/** Opens a channel whose errors only fail the calls. */
export async function openQuietly(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  return channel;
}
