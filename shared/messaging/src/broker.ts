import type { QueueDefinition } from '@tocsin/contracts';

export interface OutgoingMessage {
  /** The event's ID: consumers deduplicate by it. */
  id: string;
  /** The event's type, which is the routing key. */
  type: string;
  body: string;
}

/**
 * `confirmed`: the broker has it safe. `unroutable`: the broker had no queue for it. `failed`: nobody knows; publish it
 * again, with the same ID.
 */
export type PublishOutcome = 'confirmed' | 'unroutable' | 'failed';

export interface IncomingMessage {
  body: Buffer;
  /** False at the first delivery. */
  redelivered: boolean;
}

/** `retry` counts against the queue's delivery limit, after which the broker dead-letters the message. */
export type Verdict = 'ack' | 'retry' | 'dead-letter';

export type MessageHandler = (message: IncomingMessage) => Promise<Verdict>;

/** A handler that fails without a verdict could not handle the message: worth another try, within the limit. */
export async function verdictOf(handle: MessageHandler, message: IncomingMessage): Promise<Verdict> {
  try {
    return await handle(message);
  } catch {
    return 'retry';
  }
}

export interface Subscription {
  /** Takes no further message and waits for those under way. */
  stop(): Promise<void>;
}

/** The message broker, as far as we use it: RabbitMQ, or the in-process one of the embedded way to run. */
export interface Broker {
  readonly connected: boolean;
  /** One outcome a message, in order. Never rejects. */
  publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]>;
  /** Delivers until it is stopped, through any number of reconnections. */
  subscribe(queue: QueueDefinition, handle: MessageHandler): Subscription;
  close(): Promise<void>;
}

/** Messages one subscription works on at once: a crash counts against each of them. */
export const PREFETCH = 20;

/** Deliveries of one message before it is dead-lettered. */
export const DELIVERY_LIMIT = 10;
