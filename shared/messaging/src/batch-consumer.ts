import type { Envelope, QueueDefinition } from '@tocsin/contracts';
import { databaseFailure, isDatabaseUnavailable, type Knex, type Logger, type Metrics } from '@tocsin/runtime';
import { type BatchBounds, collectBatches } from './batch-collector.ts';
import type { Broker, Disposition, IncomingMessage, Subscription } from './broker.ts';
import { type ConsumerOutcome, observeConsumer } from './consumer-metrics.ts';
import { InvalidMessage, parseMessage } from './parse-message.ts';
import { pausableSubscription, pause, RETRY_WAITS } from './pausable-subscription.ts';

/** A message of a batch. */
export interface ReceivedEvent {
  event: Envelope;
  /** The message as it came from the broker. */
  body: string;
  /** The trace to store with what the event causes. */
  trace: string | null;
}

export interface HandledBatch {
  /** The IDs of the events that were handled now, and not before. */
  handled: ReadonlySet<string>;
  /** Called after the transaction has committed. */
  onCommit?: () => void;
}

/**
 * Handles events with different IDs in one transaction. It recognises events that were handled before, for instance
 * with `claimInInbox`.
 */
export type HandleBatch = (events: readonly ReceivedEvent[], trx: Knex.Transaction) => Promise<HandledBatch>;

export interface BatchConsumerOptions {
  broker: Broker;
  database: Knex;
  queue: QueueDefinition;
  handleBatch: HandleBatch;
  log: Logger;
  metrics: Metrics;
  bounds?: BatchBounds;
}

/** Large enough for thousands of events a second, small enough that a transaction takes milliseconds. */
const BOUNDS: BatchBounds = { messages: 128, bytes: 4_194_304 };

/**
 * For a queue with an order, and a broker that would move a requeued message to its end: for ten minutes, because that
 * keeps the order of the events, and is less than RabbitMQ's consumer timeout.
 */
const PATIENT_WAITS = [...RETRY_WAITS, 2_000, 5_000, 10_000, ...Array.from({ length: 19 }, () => 30_000)];

/**
 * Consumes a queue in batches: one transaction for many events, which are acknowledged together after the commit. If a
 * transaction fails, its events are handled one by one, so that only those that fail alone are delivered again and
 * dead-lettered at the queue's delivery limit. While the database is unavailable, the batch of a queue with an order waits;
 * after ten minutes, and at once without an order, consuming is paused as it is by `startConsumer`.
 */
export function startBatchConsumer(options: BatchConsumerOptions): Subscription {
  const { broker, database, queue, handleBatch, log, metrics, bounds = BOUNDS } = options;
  const observed = observeConsumer(metrics, { broker, queue, isActive: () => subscription.active });
  const hasOrder = queue.singleActiveConsumer === true && broker.requeueKeepsOrder !== true;
  const waits = hasOrder ? PATIENT_WAITS : RETRY_WAITS;
  const count = (outcome: ConsumerOutcome, messages = 1) => observed.count(outcome, messages);

  /** Returns what to do with each of the events, in their order. */
  const handleEvents = async (events: readonly ReceivedEvent[]): Promise<Disposition[]> => {
    const all = (disposition: Disposition, outcome: ConsumerOutcome): Disposition[] => {
      count(outcome, events.length);
      return events.map(() => disposition);
    };
    for (let attempt = 0; ; attempt += 1) {
      if (subscription.isPaused()) return all('requeue', 'returned');
      try {
        const { handled, onCommit } = await database.transaction(async (trx) => handleBatch(events, trx));
        subscription.resume();
        for (const { event } of events) if (handled.has(event.id)) observed.observeDelay(event.occurred_at);
        onCommit?.();
        count('handled', handled.size);
        count('duplicate', events.length - handled.size);
        return events.map(() => 'ack');
      } catch (error) {
        const [first] = events;
        const message = { id: first?.event.id, type: first?.event.type };
        const context = { err: error, queue: queue.name, message, messages: events.length };
        const isUnavailable = isDatabaseUnavailable(error);
        const wait = waits[attempt];
        if ((isUnavailable || databaseFailure(error) === 'conflict') && wait !== undefined) {
          const reason = isUnavailable ? 'the database is unavailable; retrying a batch' : 'repeating a transaction';
          log[attempt < RETRY_WAITS.length ? 'warn' : 'debug'](context, reason);
          await pause(wait, subscription.stopping);
          if (!subscription.stopping.aborted) continue;
          return all('leave', 'interrupted');
        }
        if (isUnavailable) {
          subscription.pause(context);
          return all('requeue', 'returned');
        }
        if (events.length > 1) {
          log.warn(context, 'cannot handle a batch; handling its messages one by one');
          const dispositions: Disposition[] = [];
          for (const one of events) dispositions.push(...(await handleEvents([one])));
          return dispositions;
        }
        log.error(context, 'cannot handle a message');
        return all('retry', 'failed');
      }
    }
  };

  const handle = async (messages: readonly IncomingMessage[]): Promise<Disposition[]> => {
    const parsed = messages.map(({ body: bytes, trace = null }): ReceivedEvent | undefined => {
      try {
        const body = bytes.toString('utf8');
        return { event: parseMessage(body).event, body, trace };
      } catch (error) {
        if (!(error instanceof InvalidMessage)) throw error;
        log.error({ err: error, queue: queue.name }, 'dead-lettering a malformed message');
        count('malformed');
        return undefined;
      }
    });
    const received = parsed.filter((event) => event !== undefined);
    const events = [...new Map(received.map((one) => [one.event.id, one])).values()];
    const dispositions = events.length === 0 ? [] : await handleEvents(events);
    count('duplicate', received.length - events.length);
    const byId = new Map(events.map(({ event }, index) => [event.id, dispositions[index]]));
    return parsed.map((one, index) => {
      if (one === undefined) return 'dead-letter';
      const disposition = byId.get(one.event.id) ?? 'retry';
      // Older brokers count a message that is left as delivered: never twice in a row.
      return disposition === 'leave' && messages[index]?.redelivered === true ? 'requeue' : disposition;
    });
  };

  const batches = collectBatches(handle, bounds);
  const subscription = pausableSubscription({
    subscribe: (prefetch) => broker.subscribe(queue, batches.handle, { prefetch }),
    queue: queue.name,
    prefetch: bounds.messages,
    log,
  });
  return {
    get active() {
      return subscription.active;
    },
    stop: async () => {
      batches.stop();
      await subscription.stop();
    },
  };
}
