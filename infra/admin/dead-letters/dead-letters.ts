import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { deadLetterQueueName, type QueueDefinition, queueName, QUEUES } from '@tocsin/schemas';
import { confirmPublisher, type Publisher } from '@tocsin/messaging/amqp';
import { Hosts, urlsOfHosts } from '@tocsin/runtime';
import { type ChannelModel, type ConfirmChannel, connect, type GetMessage } from 'amqplib';

/** A message that its consumer could not handle. */
export interface DeadLetter {
  /** The event's ID; null when the message has none. */
  id: string | null;
  type: string | null;
  /** Why the broker moved it: `rejected` for a malformed message, `delivery_limit` when its handling failed. */
  reason: string | null;
  died_at: string | null;
  body: string;
}

/** The dead letters of one installation's queues. */
export interface DeadLetters {
  /** The number of dead letters by queue. */
  count(): Promise<Record<string, number>>;
  /** Returns the oldest ones of a queue without removing them. */
  peek(queue: QueueDefinition, limit: number): Promise<DeadLetter[]>;
  /**
   * Sends the oldest ones back to their queue. Each is removed only after the broker has confirmed the copy: a crash
   * may send one twice but loses none, and consumers ignore messages that they have handled.
   * @returns the number sent
   */
  replay(queue: QueueDefinition, limit: number): Promise<number>;
  /** Deletes the oldest ones. @returns the number deleted */
  discard(queue: QueueDefinition, limit: number): Promise<number>;
}

/** The queues by their names in commands. */
export const QUEUES_BY_NAME: ReadonlyMap<string, QueueDefinition> = new Map(
  Object.values(QUEUES).map((queue) => [queue.name, queue]),
);

/** Runs `work` on the dead letters in RabbitMQ, on a separate connection. */
export async function withDeadLetters<Result>(
  { url, namespace }: { url: string; namespace: string },
  work: (deadLetters: DeadLetters) => Promise<Result>,
): Promise<Result> {
  const connection = await new Hosts(urlsOfHosts(url)).connect(async (node) => connect(node, { timeout: 5_000 }));
  // Pending calls fail when the connection is lost; without a listener it would also be an uncaught exception.
  connection.on('error', () => undefined);
  try {
    return await work(deadLetters(connection, namespace));
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/**
 * How often a dead letter is returned to its queue before a copy replaces it. A broker that limits deliveries (RabbitMQ
 * 4: 20 by default) deletes a message over the limit, and each read counts as a delivery. The limit of an existing
 * queue cannot be changed by declaring it.
 */
const MAX_RETURNS = 3;

/** Headers of a copy that keep the broker's information about the original. */
const REASON = 'tocsin-death-reason';
const DIED_AT = 'tocsin-died-at';

function deadLetters(connection: ChannelModel, namespace: string): DeadLetters {
  /** Reads up to `limit` messages, oldest first, and decides on each. Kept messages are in the queue again afterwards. */
  const take = async (
    queue: QueueDefinition,
    limit: number,
    decide: (message: GetMessage, channel: ConfirmChannel) => Promise<'remove' | 'keep'>,
  ): Promise<number> => {
    const channel = await connection.createConfirmChannel();
    // Pending calls fail by themselves.
    channel.on('error', () => undefined);
    const source = deadLetterQueueName(namespace, queue);
    let kept = 0;
    try {
      // Only the messages that are in the queue now: one that returns at once must not be read again and again.
      const { messageCount } = await channel.checkQueue(source);
      let taken = 0;
      while (taken < Math.min(limit, messageCount)) {
        const message = await channel.get(source);
        if (message === false) break;
        if ((await decide(message, channel)) === 'remove') channel.ack(message);
        else kept += 1;
        taken += 1;
      }
      return taken;
    } finally {
      await channel.close().catch(() => undefined);
      if (kept > 0) await untilReturned(source, kept).catch(() => undefined);
    }
  };

  /** A closed channel's messages return a moment later: the next command must find them. Waits 2 s at most. */
  const untilReturned = async (source: string, kept: number) => {
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    const deadline = Date.now() + 2_000;
    while ((await channel.checkQueue(source)).messageCount < kept && Date.now() < deadline) await setTimeout(20);
    await channel.close();
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
    peek: async (queue, limit) => {
      const letters: DeadLetter[] = [];
      await take(queue, limit, async (message, channel) => {
        const letter = deadLetter(message);
        letters.push(letter);
        if (Number(message.properties.headers?.['x-delivery-count'] ?? 0) < MAX_RETURNS) return 'keep';
        await send(channel, deadLetterQueueName(namespace, queue), message, {
          ...(letter.reason !== null && { [REASON]: letter.reason }),
          ...(letter.died_at !== null && { [DIED_AT]: letter.died_at }),
        });
        return 'remove';
      });
      return letters;
    },
    replay: async (queue, limit) =>
      take(queue, limit, async (message, channel) => {
        await send(channel, queueName(namespace, queue), message);
        return 'remove';
      }),
    discard: async (queue, limit) => take(queue, limit, async () => 'remove'),
  };
}

/** @throws when the broker does not confirm the message in that queue */
async function send(
  channel: ConfirmChannel,
  target: string,
  { content, properties }: GetMessage,
  headers?: Record<string, unknown>,
): Promise<void> {
  const outcome = await publisherOn(channel).publish({
    exchange: '',
    routingKey: target,
    messageId: textOf(properties.messageId) ?? randomUUID(),
    deduplicationKey: randomUUID(),
    content,
    options: {
      contentType: 'application/json',
      ...(properties.type !== undefined && { type: String(properties.type) }),
      ...(headers !== undefined && { headers }),
    },
  });
  if (outcome === 'unroutable') throw new Error(`the queue ${target} does not exist: start the services first`);
  if (outcome === 'failed')
    throw new Error(`the broker does not confirm a message to ${target}: is it short of memory?`);
}

const publishers = new WeakMap<ConfirmChannel, Publisher>();

function publisherOn(channel: ConfirmChannel): Publisher {
  const publisher = publishers.get(channel) ?? confirmPublisher(channel);
  publishers.set(channel, publisher);
  return publisher;
}

interface Death {
  reason?: string;
  time?: { value?: number };
}

function deadLetter({ content, properties }: GetMessage): DeadLetter {
  const headers = properties.headers ?? {};
  const death = (headers['x-death'] as Death[] | undefined)?.[0];
  const diedAt = death?.time?.value;
  return {
    id: textOf(properties.messageId),
    type: textOf(properties.type),
    reason: textOf(headers[REASON]) ?? death?.reason ?? null,
    died_at: textOf(headers[DIED_AT]) ?? (diedAt === undefined ? null : new Date(diedAt * 1_000).toISOString()),
    body: content.toString(),
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
