import type { Channel } from 'amqplib';

/** The names of a consumer on the broker. All of its own names begin with that of its queue. */
export interface Topology {
  /** Tocsin's exchange; it is never declared here, only bound. */
  exchange: string;
  queue: string;
  patterns: readonly string[];
  deliveryLimit: number;
  /** Milliseconds without a consumer after which the broker deletes the queue with its messages; undefined: never. */
  expireAfter: number | undefined;
}

/** The exchange and the queue of the dead letters have the same name. */
export const deadLetterName = (queue: string) => `${queue}.dead`;
/** Routing keys of the dead-letter exchange: to the dead-letter queue, and back to the consumer's queue. */
const DEAD_KEY = 'dead';
export const REPLAY_KEY = 'replay';

/**
 * Declares the queue, its dead-letter exchange and its dead-letter queue, and binds them. Idempotent. Dead letters have
 * an exchange of their own, because a user needs the permission to write to an exchange that it names for them: with
 * the default exchange it could write to every queue of the broker.
 */
export async function declareTopology(channel: Channel, topology: Topology): Promise<void> {
  const { exchange, queue, patterns, deliveryLimit, expireAfter } = topology;
  const dead = deadLetterName(queue);
  await channel.assertExchange(dead, 'direct', { durable: true });
  await channel.assertQueue(dead, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await channel.bindQueue(dead, dead, DEAD_KEY);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      // RabbitMQ counts the deliveries after the first.
      'x-delivery-limit': deliveryLimit - 1,
      'x-dead-letter-exchange': dead,
      'x-dead-letter-routing-key': DEAD_KEY,
      'x-dead-letter-strategy': 'at-least-once',
      // At-least-once dead-lettering demands it. It has no effect, because the queue has no maximum length.
      'x-overflow': 'reject-publish',
      ...(expireAfter === undefined ? {} : { 'x-expires': expireAfter }),
    },
  });
  await channel.bindQueue(queue, dead, REPLAY_KEY);
  for (const pattern of patterns) await channel.bindQueue(queue, exchange, pattern);
}
