import { setTimeout as delay } from 'node:timers/promises';
import {
  type Envelope,
  envelope,
  type EventData,
  eventData,
  type EventType,
  type QueueDefinition,
} from '@tocsin/contracts';
import { Counter, isDatabaseUnavailable, type Knex, type Logger, type Metrics } from '@tocsin/runtime';
import type { Broker, IncomingMessage, Subscription, Verdict } from './broker.ts';

/** What an event does to its consumer's data, inside the transaction that also remembers the event. */
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

/** The table of a service that consumes; for its migrations. */
export async function createInboxTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('inbox', (table) => {
    table.text('queue').notNullable();
    table.uuid('message_id').notNullable();
    table.timestamp('received_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now()).index();
    table.primary(['queue', 'message_id']);
  });
}

/** How long the inbox remembers an event, against duplicates of it. */
const INBOX_DAYS = 7;

/** Forgets the events that no broker still holds; answers whether there may be more. */
export async function sweepInbox(database: Knex): Promise<boolean> {
  const old = database('inbox')
    .select('queue', 'message_id')
    .where('received_at', '<', database.raw(`now() - interval '${INBOX_DAYS} days'`))
    .limit(1_000);
  return (await database('inbox').whereIn(['queue', 'message_id'], old).delete()) === 1_000;
}

class InvalidMessage extends Error {}

const RETRY_DELAYS = [100, 500, 1_000, 2_000, 5_000];

/**
 * Consumes a queue exactly once in effect: one transaction holds the event's inbox row and all that its handler writes, and
 * the acknowledgement comes after the commit. A malformed message is dead-lettered at once, one whose handler fails after
 * the queue's delivery limit; while the database is away, messages wait here, unacknowledged, and nothing is counted.
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

  /** Answers false for an event that was here before. */
  const apply = async (event: Envelope, type: EventType): Promise<boolean> =>
    database.transaction(async (trx) => {
      const remembered = await trx('inbox')
        .insert({ queue: queue.name, message_id: event.id })
        .onConflict(['queue', 'message_id'])
        .ignore()
        .returning('message_id');
      if (remembered.length === 0) return false;
      await (handlers[type] as ((event: Envelope, trx: Knex.Transaction) => Promise<void>) | undefined)?.(event, trx);
      return true;
    });

  const handle = async (message: IncomingMessage): Promise<Verdict> => {
    let known: { id?: string; type?: string } = {};
    const conclude = (verdict: Verdict, outcome: string): Verdict => {
      consumed.inc({ queue: queue.name, outcome });
      return verdict;
    };
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { event, type } = parseMessage(message.body);
        known = { id: event.id, type };
        if (!(await apply(event, type))) return conclude('ack', 'duplicate');
        onCommit?.();
        return conclude('ack', 'handled');
      } catch (error) {
        const context = { err: error, queue: queue.name, message: known };
        if (error instanceof InvalidMessage) {
          log.error(context, 'a malformed message goes to the dead letters');
          return conclude('dead-letter', 'malformed');
        }
        const wait = RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length - 1)];
        if (isDatabaseUnavailable(error)) {
          log.warn(context, 'the database is away, the message waits');
          await pause(wait, stopping.signal);
          if (!stopping.signal.aborted) continue;
          return conclude('retry', 'interrupted');
        }
        log.error(context, 'a message could not be handled');
        // Without the pause the broker would spend the delivery limit in a few milliseconds.
        await pause(wait, stopping.signal);
        return conclude('retry', 'failed');
      }
    }
  };

  const subscription = broker.subscribe(queue, handle);
  return {
    stop: async () => {
      stopping.abort();
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

/** Paths and reasons, never values: a dead letter may hold what must not be logged. */
const describe = (issues: readonly { path: PropertyKey[]; code: string }[]) =>
  issues.map(({ path, code }) => `${path.map(String).join('.')}: ${code}`).join('; ');

const pause = async (milliseconds: number | undefined, signal: AbortSignal) =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);
