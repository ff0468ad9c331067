import { deadLetterQueueName, type QueueDefinition, queueName, QUEUES } from '@tocsin/contracts';
import { type ChannelModel, connect, type GetMessage } from 'amqplib';

/** A message that its consumer could not take, as it lies in a dead-letter queue. */
export interface DeadLetter {
  /** The event's ID; null where the message is too broken to have one. */
  id: string | null;
  type: string | null;
  /** Why the broker moved it: `rejected` for a malformed one, `delivery_limit` for one whose handling failed. */
  reason: string | null;
  died_at: string | null;
  body: string;
}

/** The dead letters of one installation's queues. */
export interface DeadLetters {
  /** How many each queue has. */
  count(): Promise<Record<string, number>>;
  /** The oldest ones of a queue, which stay where they are. */
  peek(queue: QueueDefinition, most: number): Promise<DeadLetter[]>;
  /**
   * Sends the oldest ones back to their queue. Each is gone from here only once it is safe there, so a crash may send one
   * twice and loses none; its consumer knows the ones that it has handled.
   * @returns how many
   */
  replay(queue: QueueDefinition, most: number): Promise<number>;
  /** Removes the oldest ones for good. @returns how many */
  discard(queue: QueueDefinition, most: number): Promise<number>;
}

/** By the names that commands give queues. */
export const QUEUES_BY_NAME: ReadonlyMap<string, QueueDefinition> = new Map(
  Object.values(QUEUES).map((queue) => [queue.name, queue]),
);

/** Works with the dead letters on a connection of its own. */
export async function withDeadLetters<Result>(
  { url, namespace }: { url: string; namespace: string },
  work: (deadLetters: DeadLetters) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(url, { timeout: 5_000 });
  // Whoever waits for an answer is told of a lost connection; without a listener it would be an uncaught exception too.
  connection.on('error', () => undefined);
  try {
    return await work(deadLetters(connection, namespace));
  } finally {
    await connection.close().catch(() => undefined);
  }
}

function deadLetters(connection: ChannelModel, namespace: string): DeadLetters {
  /** Takes up to `most` messages, oldest first, and decides on each; those that are kept go back when the channel closes. */
  const take = async (
    queue: QueueDefinition,
    most: number,
    decide: (message: GetMessage) => Promise<'remove' | 'keep'>,
  ): Promise<number> => {
    const channel = await connection.createChannel();
    try {
      let taken = 0;
      while (taken < most) {
        const message = await channel.get(deadLetterQueueName(namespace, queue));
        if (message === false) break;
        if ((await decide(message)) === 'remove') channel.ack(message);
        taken += 1;
      }
      return taken;
    } finally {
      await channel.close();
    }
  };

  return {
    count: async () => {
      const channel = await connection.createChannel();
      const counts: Record<string, number> = {};
      for (const [name, queue] of QUEUES_BY_NAME) {
        counts[name] = (await channel.checkQueue(deadLetterQueueName(namespace, queue))).messageCount;
      }
      await channel.close();
      return counts;
    },
    peek: async (queue, most) => {
      const letters: DeadLetter[] = [];
      await take(queue, most, async (message) => {
        letters.push(deadLetter(message));
        return 'keep';
      });
      return letters;
    },
    replay: async (queue, most) => {
      const publisher = await connection.createConfirmChannel();
      // Those that are here now: one that comes back at once must not go round and round.
      const { messageCount } = await publisher.checkQueue(deadLetterQueueName(namespace, queue));
      const sent = await take(queue, Math.min(most, messageCount), async ({ content, properties }) => {
        publisher.sendToQueue(queueName(namespace, queue), content, {
          persistent: true,
          contentType: 'application/json',
          ...(properties.messageId !== undefined && { messageId: String(properties.messageId) }),
          ...(properties.type !== undefined && { type: String(properties.type) }),
        });
        await publisher.waitForConfirms();
        return 'remove';
      });
      await publisher.close();
      return sent;
    },
    discard: async (queue, most) => take(queue, most, async () => 'remove'),
  };
}

interface Death {
  reason?: string;
  time?: { value?: number };
}

function deadLetter({ content, properties }: GetMessage): DeadLetter {
  const death = (properties.headers?.['x-death'] as Death[] | undefined)?.[0];
  return {
    id: textOf(properties.messageId),
    type: textOf(properties.type),
    reason: death?.reason ?? null,
    died_at: death?.time?.value === undefined ? null : new Date(death.time.value * 1_000).toISOString(),
    body: content.toString(),
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
