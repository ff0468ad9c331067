import type { Socket } from 'node:net';
import {
  deadLetterQueueName,
  exchangeName,
  healthQueueName,
  QUEUES,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import { type ChannelModel, connect } from 'amqplib';

/** Milliseconds. On a busy broker a deletion can hang for minutes; a new attempt is faster. */
const TIMEOUT = 5_000;
const ATTEMPTS = 5;

/** Deletes an installation's queues and exchange on a broker, including messages. */
export async function removeTopology(url: string, namespace: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await attemptRemoval(url, namespace);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function attemptRemoval(url: string, namespace: string): Promise<void> {
  const model = await connect(url, { timeout: TIMEOUT });
  // Pending calls reject; without a listener the error would be an uncaught exception.
  model.on('error', () => undefined);
  const timer = setTimeout(() => destroy(model), TIMEOUT);
  try {
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    for (const queue of Object.values(QUEUES)) {
      await channel.deleteQueue(queueName(namespace, queue));
      await channel.deleteQueue(deadLetterQueueName(namespace, queue));
    }
    await channel.deleteQueue(healthQueueName(namespace));
    for (const name of [exchangeName(namespace), requeueExchangeName(namespace)]) await channel.deleteExchange(name);
    await model.close();
  } finally {
    clearTimeout(timer);
  }
}

function destroy({ connection }: ChannelModel): void {
  (connection as typeof connection & { stream: Socket }).stream.destroy();
}
