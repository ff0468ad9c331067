import type { ChannelModel, ConfirmChannel, GetMessage, MessageProperties } from 'amqplib';
import { within } from './backoff.ts';
import { closeConnection, type Connection, connector, destroy } from './connection.ts';
import { deadLetterName, REPLAY_KEY } from './topology.ts';

/** Milliseconds for a step. RabbitMQ sends no confirms while it is short of memory or disk space. */
const STEP_TIMEOUT = 10_000;

/** Set by the broker; a replayed message starts anew. */
const BROKER_HEADERS = /^x-(?:death$|first-death-|last-death-|delivery-count$|acquired-count$|delivery-limit)/;

/**
 * Moves dead letters of a consumer back to its queue, oldest first, at most those that exist at the start. A dead letter
 * is removed only when the queue has it. Interrupted, one message may be in both.
 * @param options.max the number of messages; default all
 * @throws Error if the queue does not exist or the broker does not respond
 */
export async function replayDeadLetters(options: {
  connection: Connection;
  queue: string;
  max?: number;
}): Promise<{ replayed: number }> {
  const { queue, max = Infinity } = options;
  const connection = await connector(options.connection, `@tocsin/events replay ${queue}`)();
  connection.on('error', () => undefined);
  const step = async <Result>(promise: Promise<Result>) =>
    within(promise, STEP_TIMEOUT, () => {
      destroy(connection);
      throw new Error('the broker does not respond');
    });
  try {
    const channel = await step(openChannel(connection));
    const { messageCount } = await step(channel.checkQueue(deadLetterName(queue)));
    let replayed = 0;
    while (replayed < Math.min(messageCount, max)) {
      const message = await step(channel.get(deadLetterName(queue)));
      if (message === false) break;
      await step(returnToQueue(channel, queue, message));
      channel.ack(message);
      replayed += 1;
    }
    // Closing the channel first: the broker has then received every acknowledgement.
    await step(channel.close());
    return { replayed };
  } finally {
    await closeConnection(connection);
  }
}

async function openChannel(connection: ChannelModel): Promise<ConfirmChannel> {
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => undefined);
  return channel;
}

/** Resolves when the queue has the message. */
async function returnToQueue(channel: ConfirmChannel, queue: string, message: GetMessage): Promise<void> {
  let returned = false;
  const onReturn = () => (returned = true);
  channel.once('return', onReturn);
  try {
    await new Promise<void>((resolve, reject) => {
      const options = { ...kept(message.properties), persistent: true, mandatory: true };
      channel.publish(deadLetterName(queue), REPLAY_KEY, message.content, options, (error: unknown) => {
        // An unroutable message is confirmed as well, after its return.
        if (returned) reject(new Error(`the queue ${queue} does not exist`));
        else if (error) reject(new Error('the broker did not accept the message', { cause: error }));
        else resolve();
      });
    });
  } finally {
    channel.off('return', onReturn);
  }
}

function kept(received: MessageProperties) {
  const { messageId, type, contentType, contentEncoding, timestamp, headers } = received as unknown as Record<
    string,
    unknown
  >;
  const entries = Object.entries(headers ?? {}) as [string, unknown][];
  const eventHeaders = Object.fromEntries(entries.filter(([name]) => !BROKER_HEADERS.test(name)));
  const properties = Object.entries({ messageId, type, contentType, contentEncoding, timestamp });
  return { ...Object.fromEntries(properties.filter(([, value]) => value !== undefined)), headers: eventHeaders };
}
