import { deadLetterQueueName, exchangeName, type QueueDefinition, QUEUES, queueName } from '@tocsin/contracts';
import type { Channel } from 'amqplib';
import { DELIVERY_LIMIT } from './broker.ts';

/**
 * Declares the exchange, every queue and its dead-letter queue. Idempotent. The queues are quorum queues, because
 * messages must survive the loss of a node. Dead-lettering is at-least-once, because operators need rejected messages.
 */
export async function declareTopology(channel: Channel, namespace: string): Promise<void> {
  const exchange = exchangeName(namespace);
  await channel.assertExchange(exchange, 'topic', { durable: true });
  for (const queue of Object.values<QueueDefinition>(QUEUES)) {
    const name = queueName(namespace, queue);
    const deadLetters = deadLetterQueueName(namespace, queue);
    await channel.assertQueue(deadLetters, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    await channel.assertQueue(name, {
      durable: true,
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
    });
    for (const key of queue.bindings) await channel.bindQueue(name, exchange, key);
  }
}
