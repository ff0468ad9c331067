import type { Socket } from 'node:net';
import { deadLetterQueueName, exchangeName, QUEUES, queueName } from '@tocsin/contracts';
import { type ChannelModel, connect } from 'amqplib';

/** A busy broker may let one deletion wait for minutes; another connection finds it done much sooner. Milliseconds. */
const PATIENCE = 5_000;
const ATTEMPTS = 5;

/** Removes all that an installation has on a broker, messages included. */
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
  const model = await connect(url, { timeout: PATIENCE });
  // What waits for an answer is told.
  model.on('error', () => undefined);
  const impatience = setTimeout(() => hangUp(model), PATIENCE);
  try {
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    for (const queue of Object.values(QUEUES)) {
      await channel.deleteQueue(queueName(namespace, queue));
      await channel.deleteQueue(deadLetterQueueName(namespace, queue));
    }
    await channel.deleteExchange(exchangeName(namespace));
    await model.close();
  } finally {
    clearTimeout(impatience);
  }
}

function hangUp({ connection }: ChannelModel): void {
  (connection as typeof connection & { stream: Socket }).stream.destroy();
}
