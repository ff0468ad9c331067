import type { Envelope, EventData, EventType, QueueDefinition } from '@tocsin/schemas';
import { databaseFailure, isDatabaseUnavailable, type Knex } from '@tocsin/postgres';
import type { Logger, Metrics } from '@tocsin/runtime';
import { type BatchBounds, type BatchDisposition, collectBatches, prefetchOf } from './batch-collector.ts';
import { type Broker, type Disposition, type IncomingMessage, PREFETCH, type Subscription } from './broker.ts';
import { type ConsumerMetrics, type ConsumerOutcome, observeConsumer } from './consumer-metrics.ts';
import { type FaultyMessages, faultyMessages } from './faulty-messages.ts';
import { recordInInbox } from './inbox.ts';
import { InvalidMessage, isEventType, parseMessage, UnknownType } from './parse-message.ts';
import { type PausableSubscription, pausableSubscription, pause, RETRY_WAITS } from './pausable-subscription.ts';

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
 * with `recordInInbox`.
 */
type HandleBatch = (events: readonly ReceivedEvent[], trx: Knex.Transaction) => Promise<HandledBatch>;

/** Handlers by event type. Each runs in the transaction that also inserts the event's inbox row. */
export type EventHandlers = {
  [Type in EventType]?: (event: Envelope<EventData<Type>>, trx: Knex.Transaction) => Promise<void>;
};

/** A queue, and how its events change the service's data: in batches, or each in a transaction of its own. */
export type ConsumerSpec = { queue: QueueDefinition } & ({ handleBatch: HandleBatch } | { handlers: EventHandlers });

export type ConsumerOptions = ConsumerSpec & {
  broker: Broker;
  database: Knex;
  log: Logger;
  metrics: Metrics;
  bounds?: BatchBounds;
};

/** Large enough for thousands of events a second, small enough that a transaction takes milliseconds. */
const BOUNDS: BatchBounds = { messages: 128, bytes: 4_194_304, concurrent: 1, ahead: 128, gathering: 20 };
/** Events that have a transaction of their own are handled at the same time. */
const ONE_EACH: BatchBounds = { messages: 1, bytes: 0, concurrent: PREFETCH };

/** Handles events with exactly-once effect: their inbox rows commit with all that their handlers write. */
const handleWith =
  (queue: QueueDefinition, handlers: EventHandlers): HandleBatch =>
  async (events, trx) => {
    const ids = events.map(({ event }) => event.id);
    const handled = await recordInInbox(trx, queue, ids);
    for (const { event } of events.filter((one) => handled.has(one.event.id))) {
      const { type } = event;
      const handler = isEventType(type) ? handlers[type] : undefined;
      await (handler as ((event: Envelope, trx: Knex.Transaction) => Promise<void>) | undefined)?.(event, trx);
    }
    return { handled };
  };

/**
 * For a queue with an order, and a broker that would move a requeued message to its end: for ten minutes, because that
 * keeps the order of the events, and is less than RabbitMQ's consumer timeout.
 */
const PATIENT_WAITS = [...RETRY_WAITS, 2_000, 5_000, 10_000, ...Array.from({ length: 19 }, () => 30_000)];
/** The same in milliseconds, while the database gives up statements: each attempt takes as long as one may. */
const WAITING_LIMIT = 600_000;

/**
 * Consumes a queue: one transaction for the events of a batch, which are acknowledged together after the commit. An event
 * of an unknown type is acknowledged, and a malformed message becomes a dead letter at once. If a transaction fails, its
 * events are handled one by one, so that only those that fail alone are delivered again and become dead letters at the
 * queue's delivery limit. While the database is unavailable, or gives up statements for a reason that is not an event's
 * fault (`faultyMessages`), the batch of a queue with an order waits; after ten minutes, and soon without an order,
 * consuming is paused: messages are requeued without counting a delivery, and after each pause one of them tests the
 * database.
 */
export function startConsumer(options: ConsumerOptions): Subscription {
  const { broker, database, queue, log, metrics } = options;
  const [handleBatch, defaultBounds] =
    'handlers' in options ? [handleWith(queue, options.handlers), ONE_EACH] : [options.handleBatch, BOUNDS];
  const bounds = options.bounds ?? defaultBounds;
  const observed = observeConsumer(metrics, { broker, queue, isActive: () => subscription.active });
  const hasOrder = queue.singleActiveConsumer === true && broker.requeueKeepsOrder !== true;
  const parts: ConsumerParts = {
    ...{ queue, log, observed, faulty: faultyMessages() },
    waits: hasOrder ? PATIENT_WAITS : RETRY_WAITS,
    waitingLimit: hasOrder ? WAITING_LIMIT : 0,
    subscription: () => subscription,
  };
  const handleRound = roundHandler(parts, transactionHandler(parts, { database, handleBatch }));

  const handle = async (messages: readonly IncomingMessage[]): Promise<BatchDisposition[]> => {
    const parsed = messages.map((message) => parse(parts, message));
    const received = parsed.filter((one) => typeof one === 'object');
    const events = [...new Map(received.map((one) => [one.event.id, one])).values()];
    const byId = events.length === 0 ? new Map<string, BatchDisposition>() : await handleRound(events);
    observed.count('duplicate', received.length - events.length);
    return parsed.map((one, index) => {
      if (typeof one === 'string') return one;
      const disposition = byId.get(one.event.id) ?? 'retry';
      // Older brokers count a message that is left as delivered: never twice in a row.
      return disposition === 'leave' && messages[index]?.redelivered === true ? 'requeue' : disposition;
    });
  };

  const batches = collectBatches(handle, bounds);
  const subscription = pausableSubscription({
    subscribe: (prefetch) => broker.subscribe(queue, batches.handle, { prefetch }),
    queue: queue.name,
    prefetch: prefetchOf(bounds),
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

/** What the steps of a consumer share. */
interface ConsumerParts {
  queue: QueueDefinition;
  log: Logger;
  observed: ConsumerMetrics;
  faulty: FaultyMessages;
  /** Milliseconds between attempts while the database is unavailable. */
  waits: readonly number[];
  /** Milliseconds for which the database may give up statements before consuming is paused. */
  waitingLimit: number;
  /** It exists before the first message. */
  subscription: () => PausableSubscription;
}

/** Returns the event, or what to do with a message that has none for this release. */
function parse(
  { queue, log, observed }: ConsumerParts,
  { body: bytes, trace = null }: IncomingMessage,
): ReceivedEvent | Disposition {
  try {
    const body = bytes.toString('utf8');
    return { event: parseMessage(body).event, body, trace };
  } catch (error) {
    const context = { err: error, queue: queue.name };
    if (error instanceof UnknownType) {
      log.debug(context, 'ignoring a message of an unknown type');
      observed.count('unknown_type');
      return 'ack';
    }
    if (!(error instanceof InvalidMessage)) throw error;
    log.error(context, 'dead-lettering a malformed message');
    observed.count('malformed');
    return 'dead-letter';
  }
}

/** Returns what to do with each of the events, in their order. @returns undefined if each has to be handled alone */
type HandleTogether = (events: readonly ReceivedEvent[]) => Promise<BatchDisposition[] | undefined>;

/** Returns a function that handles events in one transaction. */
function transactionHandler(
  { queue, log, observed, faulty, waits, subscription: getSubscription }: ConsumerParts,
  { database, handleBatch }: { database: Knex; handleBatch: HandleBatch },
): HandleTogether {
  return async (events) => {
    const subscription = getSubscription();
    const all = (disposition: Disposition, outcome: ConsumerOutcome): Disposition[] => {
      observed.count(outcome, events.length);
      return events.map(() => disposition);
    };
    for (let attempt = 0; ; attempt += 1) {
      if (subscription.isPaused()) return all('requeue', 'returned');
      try {
        const { handled, onCommit } = await database.transaction(async (trx) => handleBatch(events, trx));
        subscription.resume();
        faulty.passed(events.map(({ event }) => event.id));
        for (const { event } of events) if (handled.has(event.id)) observed.observeDelay(event.occurred_at);
        onCommit?.();
        observed.count('handled', handled.size);
        observed.count('duplicate', events.length - handled.size);
        return events.map(() => 'ack');
      } catch (error) {
        const [first] = events;
        const message = { id: first?.event.id, type: first?.event.type };
        const context = { err: error, queue: queue.name, message, messages: events.length };
        const isUnavailable = isDatabaseUnavailable(error);
        const failure = databaseFailure(error);
        const wait = (isUnavailable ? waits : failure === 'conflict' ? RETRY_WAITS : [])[attempt];
        if (wait !== undefined) {
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
          return undefined;
        }
        const isGivenUp = failure === 'conflict' || failure === 'timeout';
        if (isGivenUp && !faulty.failed(first?.event.id ?? '')) {
          log.warn(context, 'the database gave up a statement; trying again');
          return ['again'];
        }
        log.error(context, 'cannot handle a message');
        return all('retry', 'failed');
      }
    }
  };
}

type HandleRound = (events: readonly ReceivedEvent[]) => Promise<Map<string, BatchDisposition>>;

/** Returns a function that handles the events of a batch, together or each alone. It returns what to do by their IDs. */
function roundHandler(
  { queue, observed, faulty, waits, waitingLimit, subscription: getSubscription }: ConsumerParts,
  handleTogether: HandleTogether,
): HandleRound {
  /** How often in a row, and since when, the database gave up statements and no event passed. */
  let refusals = { rounds: 0, since: 0 };

  const handleAlone = async (one: ReceivedEvent): Promise<BatchDisposition> =>
    (await handleTogether([one]))?.[0] ?? 'retry';

  /** While no event passes, it tries one more in each round: each may take as long as the database allows a statement. */
  const handleOneByOne = async (events: readonly ReceivedEvent[]): Promise<BatchDisposition[]> => {
    const dispositions: BatchDisposition[] = [];
    let tries = refusals.rounds + 1;
    for (const one of events) {
      const disposition = tries === 0 ? 'again' : await handleAlone(one);
      if (disposition === 'ack') tries = Infinity;
      else if (disposition === 'again' && tries > 0) tries -= 1;
      dispositions.push(disposition);
    }
    return dispositions;
  };

  /** Returns what to do then with the messages that have to be handled again. */
  const waitForDatabase = async (messages: number): Promise<BatchDisposition> => {
    const subscription = getSubscription();
    const now = performance.now();
    const { rounds, since } = refusals.rounds === 0 ? { rounds: 0, since: now } : refusals;
    refusals = { rounds: rounds + 1, since };
    if (now - since > waitingLimit) {
      subscription.pause({ queue: queue.name, messages });
      observed.count('returned', messages);
      return 'requeue';
    }
    await pause(waits[Math.min(rounds, waits.length - 1)] ?? 0, subscription.stopping);
    if (!subscription.stopping.aborted) return 'again';
    observed.count('interrupted', messages);
    return 'leave';
  };

  /** Handles the events that were at fault before after the others, so that these do not wait for them. */
  return async (events) => {
    const { others = [], faultyEvents = [] } = Object.groupBy(events, ({ event }) =>
      faulty.has(event.id) ? 'faultyEvents' : 'others',
    );
    const dispositions = others.length === 0 ? [] : ((await handleTogether(others)) ?? (await handleOneByOne(others)));
    for (const one of faultyEvents) dispositions.push(await handleAlone(one));
    const byId = [...others, ...faultyEvents].map(
      ({ event }, index) => [event.id, dispositions[index] ?? 'retry'] as const,
    );
    if (!dispositions.includes('again') || dispositions.includes('ack')) {
      refusals = { rounds: 0, since: 0 };
      return new Map(byId);
    }
    const instead = await waitForDatabase(dispositions.filter((disposition) => disposition === 'again').length);
    return new Map(byId.map(([id, disposition]) => [id, disposition === 'again' ? instead : disposition]));
  };
}
