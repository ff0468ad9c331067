import { withTimeout } from '@tocsin/runtime';
import type { ConfirmChannel, Message, Options } from 'amqplib';

/** A message with its AMQP routing. */
interface AmqpMessage {
  exchange: string;
  routingKey: string;
  messageId: string;
  /** Identifies the message: a second one with this key is not sent while the outcome of the first is unknown. */
  deduplicationKey: string;
  content: Buffer;
  /** In addition to persistence, `mandatory` and the message ID. */
  options?: Options.Publish;
}

type ConfirmOutcome = 'confirmed' | 'unroutable' | 'failed';

/** Publishes on one confirm channel. */
export interface Publisher {
  /**
   * Resolves in bounded time and never rejects. After a timeout, publishing the message again on this channel does not
   * send it a second time, but waits for the outcome of the first copy.
   */
  publish(message: AmqpMessage): Promise<ConfirmOutcome>;
}

/** Milliseconds until publishing fails without a confirm. RabbitMQ sends no confirms during a resource alarm. */
export const CONFIRM_TIMEOUT = 5_000;
/** Milliseconds that an outcome which came after the timeout is kept for the next attempt. */
const LATE_OUTCOME_TTL = 60_000;
/** The maximum number of messages without an outcome on one channel. */
const MAX_UNCONFIRMED = 1_000;

/** @param confirmTimeout see `CONFIRM_TIMEOUT` */
export function confirmPublisher(channel: ConfirmChannel, confirmTimeout = CONFIRM_TIMEOUT): Publisher {
  /** The outcome of every sent message, by deduplication key, until a caller has received it. */
  const outcomes = new Map<string, Promise<ConfirmOutcome>>();
  /** How often the broker returned a message, before its confirm; the same message may be in flight more than once. */
  const returnCounts = new Map<string, number>();
  const addressOf = (exchange: string, routingKey: string, messageId: unknown) =>
    JSON.stringify([exchange, routingKey, messageId]);
  channel.on('return', ({ fields, properties }: Message) => {
    const address = addressOf(fields.exchange, fields.routingKey, properties.messageId);
    returnCounts.set(address, (returnCounts.get(address) ?? 0) + 1);
  });
  const wasReturned = (address: string): boolean => {
    const times = returnCounts.get(address) ?? 0;
    if (times > 1) returnCounts.set(address, times - 1);
    else returnCounts.delete(address);
    return times > 0;
  };

  const send = async ({ exchange, routingKey, content, messageId, options }: AmqpMessage) => {
    const address = addressOf(exchange, routingKey, messageId);
    const { promise, resolve } = Promise.withResolvers<ConfirmOutcome>();
    try {
      channel.publish(
        exchange,
        routingKey,
        content,
        { ...options, persistent: true, mandatory: true, messageId },
        // An unroutable message is confirmed as well, after its return.
        (error: unknown) => resolve(wasReturned(address) ? 'unroutable' : error ? 'failed' : 'confirmed'),
      );
    } catch {
      // The channel has closed meanwhile.
      resolve('failed');
    }
    return promise;
  };

  return {
    publish: async (publication) => {
      const { deduplicationKey } = publication;
      if (!outcomes.has(deduplicationKey) && outcomes.size >= MAX_UNCONFIRMED) return 'failed';
      const outcome = outcomes.get(deduplicationKey) ?? send(publication);
      outcomes.set(deduplicationKey, outcome);
      const remove = () => outcomes.delete(deduplicationKey);
      const first = await withTimeout(outcome, confirmTimeout, () => 'timeout' as const);
      if (first !== 'timeout') {
        remove();
        return first;
      }
      void outcome.then(() => setTimeout(remove, LATE_OUTCOME_TTL).unref());
      return 'failed';
    },
  };
}
