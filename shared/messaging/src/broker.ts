import type { QueueDefinition } from '@tocsin/schemas';

export interface OutgoingMessage {
  /** The event's ID: consumers deduplicate by it. */
  id: string;
  /** The event's type, which is the routing key. */
  type: string;
  body: string;
  /** The trace that the event belongs to, as `storableTrace` returns it. */
  trace?: string | null;
}

/** Why a message became a dead letter: its consumer rejected it as malformed, or every delivery failed. */
export type DeadLetterReason = 'rejected' | 'delivery_limit';

/** The queues for which a message became a dead letter, returned by a broker that does not store dead letters. */
export interface DeadLettered {
  deadLetters: readonly { queue: string; reason: DeadLetterReason }[];
}

/**
 * `confirmed`: the broker has stored the message. `unroutable`: no queue is bound to its type. `failed`: the outcome is
 * unknown; publish it again, with the same ID. `DeadLettered`: every queue has finished with it, and the publisher must
 * store it as a dead letter of those queues.
 */
export type PublishOutcome = 'confirmed' | 'unroutable' | 'failed' | DeadLettered;

export interface IncomingMessage {
  body: Buffer;
  /** False at the first delivery. */
  redelivered: boolean;
  /** Whether the broker delivers it again in any case, because the channel that it came by is closed. */
  isLost?: () => boolean;
  /** The trace to store with what the message causes, as `storableTrace` returns it. */
  trace?: string | null;
}

/**
 * What to do with a delivered message. `retry`: the broker delivers it again, after a delay that grows with each
 * delivery, and dead-letters it at the delivery limit. `requeue`: it goes back to its queue as if it had never been
 * delivered. `leave`: nothing; the subscription is about to stop, and then the message is again where it was in its
 * queue.
 */
export type Disposition = 'ack' | 'retry' | 'requeue' | 'leave' | 'dead-letter';

export type MessageHandler = (message: IncomingMessage) => Promise<Disposition>;

/** Calls the handler. A handler that throws counts as `retry`. */
export async function dispositionOf(handle: MessageHandler, message: IncomingMessage): Promise<Disposition> {
  try {
    return await handle(message);
  } catch {
    return 'retry';
  }
}

export interface Subscription {
  /** Whether messages are delivered now: false without a connection, and after `stop`. */
  readonly active: boolean;
  /**
   * Stops consuming and waits for the messages in progress. May be called again.
   * @param options.waitForRequeue also waits until messages with the disposition `requeue` are republished, even while
   *   RabbitMQ blocks publishing; otherwise closing the channel requeues them, which may count as a delivery
   */
  stop(options?: { waitForRequeue?: boolean }): Promise<void>;
}

export interface SubscribeOptions {
  /** The number of unacknowledged messages that RabbitMQ delivers at most; default `PREFETCH`. */
  prefetch?: number;
}

/** The message broker: RabbitMQ, or the in-process one of the embedded mode. */
export interface Broker {
  /** Whether a message may be published now. */
  readonly connected: boolean;
  /** Whether it stores messages now; default: as `connected`. */
  confirms?(): Promise<boolean>;
  /** The most messages that should be published together; default: as many as the publisher likes. */
  readonly batchSize?: number;
  /** Whether a requeued message stays where it was in its queue; default: it goes to the end. */
  readonly requeueKeepsOrder?: boolean;
  /** The messages that wait in a queue for its consumer, if known; missing in a broker that stores none. */
  countWaiting?(queue: QueueDefinition): Promise<number | undefined>;
  /** Returns one outcome a message, in order. Never rejects. */
  publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]>;
  /** Delivers messages until the subscription is stopped, across reconnections. */
  subscribe(queue: QueueDefinition, handle: MessageHandler, options?: SubscribeOptions): Subscription;
  /** The messages in a queue's dead-letter queue; missing in a broker that does not store them. */
  countDeadLetters?(queue: QueueDefinition): Promise<number>;
  close(): Promise<void>;
}

/** The number of messages that a subscription handles concurrently. A crash counts as a delivery of each. */
export const PREFETCH = 20;

/** Deliveries of one message before it is dead-lettered. */
export const DELIVERY_LIMIT = 10;

/**
 * Milliseconds from a failed delivery to the next one, by the number of earlier failures; the last value repeats. Ten
 * deliveries take about four minutes, so that a message survives a short outage.
 */
export const RETRY_DELAYS: readonly number[] = [100, 1_000, 5_000, 10_000, 20_000, 40_000, 60_000];

export const retryDelay = (delays: readonly number[], previousFailures: number): number =>
  delays[Math.min(previousFailures, delays.length - 1)] ?? 0;
