import { setTimeout as delay } from 'node:timers/promises';
import {
  type Envelope,
  envelope,
  type EventData,
  eventData,
  type EventType,
  type QueueDefinition,
} from '@tocsin/contracts';
import { Counter, databaseFailure, isDatabaseUnavailable, type Knex, type Logger, type Metrics } from '@tocsin/runtime';
import { type Broker, type IncomingMessage, PREFETCH, type Subscription, type Disposition } from './broker.ts';

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
  /** Called after an event's transaction has committed. */
  onCommit?: () => void;
}

/** Creates the inbox table; for the migrations of a service that consumes. */
export async function createInboxTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('inbox', (table) => {
    table.text('queue').notNullable();
    table.uuid('message_id').notNullable();
    table.timestamp('received_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now()).index();
    table.primary(['queue', 'message_id']);
  });
}

/** Days that inbox rows are kept to detect duplicates. */
const INBOX_DAYS = 7;

/** Deletes the rows of events too old to be delivered again. Returns whether there may be more. */
export async function sweepInbox(database: Knex): Promise<boolean> {
  const old = database('inbox')
    .select('queue', 'message_id')
    .where('received_at', '<', database.raw(`now() - interval '${INBOX_DAYS} days'`))
    .limit(1_000);
  return (await database('inbox').whereIn(['queue', 'message_id'], old).delete()) === 1_000;
}

class InvalidMessage extends Error {}

/**
 * Milliseconds between attempts in this process, after a conflict with another transaction or when the database becomes
 * unavailable. Only then is the message requeued or retried by the broker.
 */
const RETRY_WAITS = [100, 500, 1_000];

/**
 * Milliseconds that consuming is paused while the database is unavailable, by the number of pauses so far; the last
 * value repeats.
 */
const OUTAGE_WAITS = [1_000, 2_000, 5_000, 10_000, 30_000];

/**
 * Consumes a queue with exactly-once effect: one transaction inserts the event's inbox row and all that its handler
 * writes, and the message is acknowledged after the commit. A malformed message is dead-lettered at once; one whose
 * handler fails, at the queue's delivery limit. While the database is unavailable, consuming is paused: messages are
 * requeued without counting a delivery, and after each pause one message tests whether the database works again.
 */
export function startConsumer(options: ConsumerOptions): Subscription {
  const { broker, database, queue, handlers, log, metrics, onCommit } = options;
  const consumed =
    (metrics.getSingleMetric('tocsin_messages_consumed_total') as Counter<'queue' | 'outcome'> | undefined) ??
    new Counter({
      name: 'tocsin_messages_consumed_total',
      help: 'Messages consumed, by queue and outcome',
      labelNames: ['queue', 'outcome'],
      registers: [metrics],
    });
  const stopping = new AbortController();
  /** Consuming is paused, because the database is unavailable. */
  let paused = false;
  // Functions, because TypeScript would not expect the flags to change while a message is handled.
  const isPaused = () => paused;
  const isStopping = () => stopping.signal.aborted;
  /** The number of consecutive pauses. */
  let outages = 0;

  /** Returns false for an event that was handled before. */
  const handleOnce = async (event: Envelope, type: EventType): Promise<boolean> =>
    database.transaction(async (trx) => {
      const inserted = await trx('inbox')
        .insert({ queue: queue.name, message_id: event.id })
        .onConflict(['queue', 'message_id'])
        .ignore()
        .returning('message_id');
      if (inserted.length === 0) return false;
      await (handlers[type] as ((event: Envelope, trx: Knex.Transaction) => Promise<void>) | undefined)?.(event, trx);
      return true;
    });

  const handle = async (message: IncomingMessage): Promise<Disposition> => {
    let identity: { id?: string; type?: string } = {};
    const conclude = (disposition: Disposition, outcome: string): Disposition => {
      consumed.inc({ queue: queue.name, outcome });
      return disposition;
    };
    // Delivered before the subscription stopped.
    if (paused) return conclude('requeue', 'returned');
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { event, type } = parseMessage(message.body);
        identity = { id: event.id, type };
        const isNew = await handleOnce(event, type);
        resumeConsuming();
        if (isNew) onCommit?.();
        return conclude('ack', isNew ? 'handled' : 'duplicate');
      } catch (error) {
        const context = { err: error, queue: queue.name, message: identity };
        if (error instanceof InvalidMessage) {
          log.error(context, 'dead-lettering a malformed message');
          return conclude('dead-letter', 'malformed');
        }
        const isUnavailable = isDatabaseUnavailable(error);
        const wait = RETRY_WAITS[attempt];
        if ((isUnavailable || databaseFailure(error) === 'conflict') && wait !== undefined && !isPaused()) {
          log.warn(
            context,
            isUnavailable ? 'the database is unavailable; retrying the message' : 'repeating a transaction',
          );
          await pause(wait, stopping.signal);
          if (!isStopping()) continue;
          return conclude('requeue', 'interrupted');
        }
        if (isUnavailable) {
          pauseConsuming(context);
          return conclude('requeue', 'returned');
        }
        log.error(context, 'cannot handle a message');
        return conclude('retry', 'failed');
      }
    }
  };

  let subscription = broker.subscribe(queue, handle);
  /** Settles when the last resubscription has finished; they run one after the other. */
  let switching = Promise.resolve();
  const resubscribe = ({ wait, prefetch, then }: { wait: number; prefetch: number; then: () => void }) => {
    const stopped = subscription.stop({ waitForRequeue: true });
    switching = Promise.all([switching, stopped]).then(async () => {
      // `subscription` may be another one now, after an earlier resubscription.
      await subscription.stop({ waitForRequeue: true });
      await pause(wait, stopping.signal);
      if (stopping.signal.aborted) return;
      then();
      subscription = broker.subscribe(queue, handle, { prefetch });
    });
  };

  /** Stops consuming, because RabbitMQ's consumer timeout would count a longer wait as a failed delivery. */
  const pauseConsuming = (context: object) => {
    if (paused || stopping.signal.aborted) return;
    paused = true;
    log[outages === 0 ? 'error' : 'debug'](context, 'the database is unavailable; pausing the consumer');
    const wait = OUTAGE_WAITS[Math.min(outages, OUTAGE_WAITS.length - 1)] ?? 0;
    outages += 1;
    // One message is enough to test the database.
    resubscribe({ wait, prefetch: 1, then: () => (paused = false) });
  };

  const resumeConsuming = () => {
    if (outages === 0 || paused) return;
    outages = 0;
    log.info({ queue: queue.name }, 'the database works again; resuming the consumer');
    resubscribe({ wait: 0, prefetch: PREFETCH, then: () => undefined });
  };

  return {
    stop: async () => {
      stopping.abort();
      await subscription.stop();
      await switching;
      await subscription.stop();
    },
  };
}

function parseMessage(body: Buffer): { event: Envelope; type: EventType } {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new InvalidMessage('not a JSON document');
  }
  const outer = envelope.safeParse(json);
  if (!outer.success) throw new InvalidMessage(describe(outer.error.issues));
  const { type } = outer.data;
  if (!isEventType(type)) throw new InvalidMessage(`unknown type ${type}`);
  const data = eventData[type].safeParse(outer.data.data);
  if (!data.success) throw new InvalidMessage(describe(data.error.issues));
  return { event: { ...outer.data, data: data.data }, type };
}

const isEventType = (type: string): type is EventType => Object.hasOwn(eventData, type);

/** Lists paths and codes, never values: a malformed message may contain secrets. */
const describe = (issues: readonly { path: PropertyKey[]; code: string }[]) =>
  issues.map(({ path, code }) => `${path.map(String).join('.')}: ${code}`).join('; ');

const pause = async (milliseconds: number, signal: AbortSignal) =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);
