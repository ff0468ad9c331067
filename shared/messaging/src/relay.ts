import { setTimeout as delay } from 'node:timers/promises';
import { hasConsumer } from '@tocsin/contracts';
import { type Knex, type Logger, type Metrics, startPeriodicTask, type PeriodicTask } from '@tocsin/runtime';
import type { Broker, DeadLettered, PublishOutcome } from './broker.ts';
import { observeOutbox, type RelayOutcome } from './outbox-metrics.ts';
import type { OutboxRow } from './outbox.ts';

/** What one batch has at most. All its messages wait for their confirms together. */
const BATCH = { rows: 500, bytes: 4_194_304 };
const POLL_INTERVAL = 250;
/** Milliseconds after which a relay that was woken while another one published looks again. */
const LOOK_AGAIN = 25;
/** How often a relay that stops looks again while another one publishes. */
const LAST_LOOKS = 40;
/**
 * Milliseconds without a statement after which the server ends the transaction of a relay, and with it the relay's lock.
 * More than the broker has for its confirms.
 */
const FROZEN_AFTER = 15_000;

/** The advisory lock of the relays of one outbox: this class, and the OID of the table. */
const LOCK_CLASS = 0x6f757462;
const TAKE_LOCK = `
  select pg_try_advisory_xact_lock(?, 'outbox'::regclass::oid::int) as locked,
    set_config('idle_in_transaction_session_timeout', ?, true)`;

/** The oldest rows, up to a number and to so many bytes, but one at least; `total` is their number without the latter. */
const READ_BATCH = `
  select id, message_id, type, body, trace_context, total from (
    select id, message_id, type, body, trace_context, count(*) over () as total,
      sum(octet_length(body)) over (order by id) as bytes
    from (select id, message_id, type, body, trace_context from outbox order by id limit ?) as oldest
  ) as measured
  where bytes <= ? or bytes = octet_length(body) order by id`;

interface BatchRow extends OutboxRow {
  id: number;
  total: number;
}

/** `busy`: another relay publishes. `more`: there are more rows, which the broker may accept. */
type BatchResult = 'busy' | 'more' | 'done';

export interface RelayOptions {
  database: Knex;
  broker: Broker;
  log: Logger;
  metrics: Metrics;
  /** Milliseconds after which another relay takes over from one that does not continue; default `FROZEN_AFTER`. */
  frozenAfter?: number;
}

/**
 * Publishes a service's outbox in the order of the rows' IDs, and so the events of one resource in the order of its
 * revisions or versions. Any number of relays may run: one publishes at a time, and the next batch may be another's. A
 * row is deleted only after the broker has confirmed its message, or together with its insertion as a dead letter. Wake
 * the relay after a commit; it also polls periodically.
 */
export function startRelay(options: RelayOptions): PeriodicTask {
  const { broker, log } = options;
  const publishBatch = batchPublisher(options);
  let lookAgain = false;
  let timer: NodeJS.Timeout | undefined;

  const work = async (): Promise<boolean> => {
    if (!broker.connected) return false;
    const result = await publishBatch();
    if (result === 'busy' && lookAgain) {
      // The other relay may have read its last batch before the commit that woke this one.
      lookAgain = false;
      timer = setTimeout(task.wake, LOOK_AGAIN);
    }
    return result === 'more';
  };
  const task = startPeriodicTask({ name: 'publishing the outbox', interval: POLL_INTERVAL, log, work });

  /** Otherwise the last events would wait until a relay of this service runs again. */
  const publishRest = async () => {
    for (let looks = 0; looks < LAST_LOOKS && broker.connected; looks += 1) {
      const result = await publishBatch();
      if (result === 'done') return;
      if (result === 'more') looks = 0;
      else await delay(LOOK_AGAIN);
    }
  };
  return {
    wake: () => {
      lookAgain = true;
      task.wake();
    },
    stop: async () => {
      await task.stop();
      clearTimeout(timer);
      await publishRest().catch((error: unknown) => log.error({ err: error }, 'cannot empty the outbox'));
    },
  };
}

/** Returns a function that publishes the next batch in a transaction, if no other relay publishes. */
function batchPublisher({ database, broker, metrics, frozenAfter = FROZEN_AFTER }: RelayOptions) {
  const published = observeOutbox(database, metrics);
  const maxRows = Math.min(BATCH.rows, broker.batchSize ?? BATCH.rows);
  return async (): Promise<BatchResult> =>
    database.transaction(async (trx) => {
      const lock = await trx.raw<{ rows: { locked: boolean }[] }>(TAKE_LOCK, [LOCK_CLASS, String(frozenAfter)]);
      if (lock.rows[0]?.locked !== true) return 'busy';
      // A statement of its own: its snapshot must be later than the lock, or it would show rows that are published.
      const { rows } = await trx.raw<{ rows: BatchRow[] }>(READ_BATCH, [maxRows, BATCH.bytes]);
      if (rows.length === 0) return 'done';

      const outcomes = await broker.publish(
        rows.map((row) => ({ id: row.message_id, type: row.type, body: row.body, trace: row.trace_context })),
      );
      const outcomeOf = (index: number): PublishOutcome => outcomes[index] ?? 'failed';
      const dead = rows.flatMap((row, index) => {
        const outcome = outcomeOf(index);
        return typeof outcome === 'string' ? [] : deadLettersOf(row, outcome);
      });
      if (dead.length > 0) await trx('dead_letters').insert(dead).onConflict().ignore();
      const sent = rows.filter(({ type }, index) => {
        const outcome = outcomeOf(index);
        published.inc({ outcome: (typeof outcome === 'string' ? outcome : 'dead_lettered') satisfies RelayOutcome });
        // Without a queue for its type an event is unroutable by design.
        return outcome !== 'failed' && (outcome !== 'unroutable' || !hasConsumer(type));
      });
      if (sent.length === 0) return 'done';
      await trx.raw('delete from outbox where id = any(?)', [sent.map(({ id }) => id)]);
      const { total } = rows[0] as BatchRow;
      return total === maxRows || rows.length < total ? 'more' : 'done';
    });
}

const deadLettersOf = ({ message_id, type, body }: BatchRow, { deadLetters }: DeadLettered) =>
  deadLetters.map(({ queue, reason }) => ({ queue, message_id, type, body, reason }));
