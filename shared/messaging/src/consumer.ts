import type { Envelope, EventData, EventType, QueueDefinition } from '@tocsin/contracts';
import { databaseFailure, isDatabaseUnavailable, type Knex } from '@tocsin/postgres';
import type { Logger, Metrics } from '@tocsin/runtime';
import { type Broker, type Disposition, type IncomingMessage, PREFETCH, type Subscription } from './broker.ts';
import { type ConsumerOutcome, observeConsumer } from './consumer-metrics.ts';
import { faultyMessages } from './faulty-messages.ts';
import { recordInInbox } from './inbox.ts';
import { InvalidMessage, parseMessage, UnknownType } from './parse-message.ts';
import { pausableSubscription, pause, RETRY_WAITS } from './pausable-subscription.ts';

/** Handlers by event type. Each runs in the transaction that also inserts the event's inbox row. */
export type EventHandlers = {
  [Type in EventType]?: (event: Envelope<EventData<Type>>, trx: Knex.Transaction) => Promise<void>;
};

export interface ConsumerOptions {
  broker: Broker;
  database: Knex;
  queue: QueueDefinition;
  handlers: EventHandlers;
  log: Logger;
  metrics: Metrics;
}

/**
 * Consumes a queue with exactly-once effect: one transaction inserts the event's inbox row and all that its handler
 * writes, and the message is acknowledged after the commit. A message of an unknown type is acknowledged. A malformed
 * message is dead-lettered at once; one whose handler fails, at the queue's delivery limit. While the database is
 * unavailable, or gives up statements for a reason that is not the message's fault (`faultyMessages`), consuming is
 * paused: messages are requeued without counting a delivery, and after each pause one message tests the database.
 */
export function startConsumer(options: ConsumerOptions): Subscription {
  const { broker, database, queue, handlers, log, metrics } = options;
  const faulty = faultyMessages();
  const observed = observeConsumer(metrics, { broker, queue, isActive: () => subscription.active });

  /** Returns false for an event that was handled before. */
  const handleOnce = async (event: Envelope, type: EventType): Promise<boolean> =>
    database.transaction(async (trx) => {
      const claimed = await recordInInbox(trx, queue, [event.id]);
      if (claimed.size === 0) return false;
      await (handlers[type] as ((event: Envelope, trx: Knex.Transaction) => Promise<void>) | undefined)?.(event, trx);
      return true;
    });

  const handle = async (message: IncomingMessage): Promise<Disposition> => {
    let identity: { id?: string; type?: string } = {};
    const conclude = (disposition: Disposition, outcome: ConsumerOutcome): Disposition => {
      observed.count(outcome);
      return disposition;
    };
    // Delivered before the subscription stopped.
    if (subscription.isPaused()) return conclude('requeue', 'returned');
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { event, type } = parseMessage(message.body.toString('utf8'));
        identity = { id: event.id, type };
        const isNew = await handleOnce(event, type);
        subscription.resume();
        faulty.passed([event.id]);
        if (isNew) observed.observeDelay(event.occurred_at);
        return conclude('ack', isNew ? 'handled' : 'duplicate');
      } catch (error) {
        const context = { err: error, queue: queue.name, message: identity };
        if (error instanceof UnknownType) {
          log.debug(context, 'ignoring a message of an unknown type');
          return conclude('ack', 'unknown_type');
        }
        if (error instanceof InvalidMessage) {
          log.error(context, 'dead-lettering a malformed message');
          return conclude('dead-letter', 'malformed');
        }
        const isUnavailable = isDatabaseUnavailable(error);
        const failure = databaseFailure(error);
        const wait = RETRY_WAITS[attempt];
        if ((isUnavailable || failure === 'conflict') && wait !== undefined && !subscription.isPaused()) {
          log.warn(
            context,
            isUnavailable ? 'the database is unavailable; retrying the message' : 'repeating a transaction',
          );
          await pause(wait, subscription.stopping);
          if (!subscription.stopping.aborted) continue;
          return conclude('requeue', 'interrupted');
        }
        const isGivenUp = failure === 'conflict' || failure === 'timeout';
        if (isUnavailable || (isGivenUp && !faulty.failed(identity.id ?? ''))) {
          subscription.pause(context);
          return conclude('requeue', 'returned');
        }
        log.error(context, 'cannot handle a message');
        return conclude('retry', 'failed');
      }
    }
  };

  const subscription = pausableSubscription({
    subscribe: (prefetch) => broker.subscribe(queue, handle, { prefetch }),
    queue: queue.name,
    prefetch: PREFETCH,
    log,
  });
  return subscription;
}
