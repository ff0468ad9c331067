import { setTimeout as delay } from 'node:timers/promises';
import { hasConsumer } from '@tocsin/contracts';
import {
  type BorrowedConnection,
  type Knex,
  type Logger,
  type Metrics,
  startPeriodicTask,
  type PeriodicTask,
  withConnection,
} from '@tocsin/runtime';
import type { Broker, DeadLettered, PublishOutcome } from './broker.ts';
import { observeOutbox, type RelayOutcome } from './outbox-metrics.ts';
import type { OutboxRow } from './outbox.ts';

/** What one batch has at most. All its messages wait for their confirms together. */
const BATCH = { rows: 500, bytes: 4_194_304 };
const POLL_INTERVAL = 250;
/**
 * Milliseconds between the beginnings of two batches, so that rows gather when many are committed: a larger batch costs
 * hardly more than a small one, here and in the services that consume it. A row after a pause does not wait, and neither
 * does a backlog.
 */
const GATHERING = 20;
/** Milliseconds after which a relay that was woken while another one published looks again. */
const LOOK_AGAIN = 25;
/** How often a relay that stops looks again while another one publishes. */
const LAST_LOOKS = 40;
/**
 * Milliseconds without a statement after which the server ends the transaction of a relay, and with it the relay's lock.
 * More than the broker has for its confirms.
 */
const FROZEN_AFTER = 15_000;

/** The class of the advisory locks of relays. */
const LOCK_CLASS = 0x6f757462;

/**
 * Begins the transaction of a batch: takes the lock of the outbox, if no other relay has it, and reads the oldest rows, up
 * to a number and to so many bytes, but one at least; `total` is their number without the latter. The rows are read by
 * a statement of their own: its snapshot must be later than the lock, or it would show rows that are published.
 */
const beginBatch = (options: { rows: number; bytes: number; frozenAfter: number }): string[] => [
  'begin isolation level read committed',
  `select set_config('idle_in_transaction_session_timeout', '${options.frozenAfter}', true)`,
  `select set_config('tocsin.publishes', pg_try_advisory_xact_lock(${LOCK_CLASS}, 'outbox'::regclass::oid::int)::text, true)
    as locked`,
  `select id, message_id, type, body, trace_context, total from (
    select id, message_id, type, body, trace_context, count(*) over () as total,
      sum(octet_length(body)) over (order by id) as bytes
    from (
      select id, message_id, type, body, trace_context from outbox
      where current_setting('tocsin.publishes', true) = 'true' order by id limit ${options.rows}
    ) as oldest
  ) as measured
  where bytes <= ${options.bytes} or bytes = octet_length(body) order by id`,
];

interface BatchRow extends OutboxRow {
  id: number;
  total: number;
}

/**
 * `busy`: another relay publishes. `more`: there are more rows, which the broker may accept. `last`: there were no more
 * than those of the batch. `none`: nothing was published.
 */
type BatchResult = 'busy' | 'more' | 'last' | 'none';

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

  const work = async (): Promise<boolean> => {
    if (!broker.connected) return false;
    const start = performance.now();
    const result = await publishBatch();
    if (result === 'busy' && lookAgain) {
      // The other relay may have read its last batch before the commit that woke this one. Each commit under load wakes it.
      lookAgain = false;
      await delay(LOOK_AGAIN);
      return true;
    }
    if (result === 'last') await delay(Math.max(0, GATHERING - (performance.now() - start)));
    return result === 'more';
  };
  const task = startPeriodicTask({ name: 'publishing the outbox', interval: POLL_INTERVAL, log, work });

  /** Otherwise the last events would wait until a relay of this service runs again. */
  const publishRest = async () => {
    for (let looks = 0; looks < LAST_LOOKS && broker.connected; looks += 1) {
      const result = await publishBatch();
      if (result === 'last' || result === 'none') return;
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
      await publishRest().catch((error: unknown) => log.error({ err: error }, 'cannot empty the outbox'));
    },
  };
}

/** Returns a function that publishes the next batch in a transaction, if no other relay publishes. */
function batchPublisher({ database, broker, metrics, frozenAfter = FROZEN_AFTER }: RelayOptions) {
  const published = observeOutbox(database, metrics);
  const maxRows = Math.min(BATCH.rows, broker.batchSize ?? BATCH.rows);
  const begin = beginBatch({ rows: maxRows, bytes: BATCH.bytes, frozenAfter });

  /** Publishes the rows, and returns those that are finished. */
  const publish = async (rows: readonly BatchRow[], connection: BorrowedConnection): Promise<BatchRow[]> => {
    const outcomes = await broker.publish(
      rows.map((row) => ({ id: row.message_id, type: row.type, body: row.body, trace: row.trace_context })),
    );
    const finished: BatchRow[] = [];
    for (const [index, row] of rows.entries()) {
      const outcome: PublishOutcome = outcomes[index] ?? 'failed';
      published.inc({ outcome: (typeof outcome === 'string' ? outcome : 'dead_lettered') satisfies RelayOutcome });
      if (typeof outcome !== 'string') await insertDeadLetters(connection, row, outcome);
      // Without a queue for its type an event is unroutable by design.
      if (outcome !== 'failed' && (outcome !== 'unroutable' || !hasConsumer(row.type))) finished.push(row);
    }
    return finished;
  };

  return async (): Promise<BatchResult> =>
    withConnection(database, async (connection) => {
      const [, , lock, read] = await connection.runTogether(begin);
      const rows = read as BatchRow[];
      const finished = rows.length === 0 ? [] : await publish(rows, connection);
      const ids = finished.map(({ id }) => id);
      await connection.runTogether([
        ...(ids.length === 0 ? [] : [`delete from outbox where id = any('{${ids.join(',')}}')`]),
        'commit',
      ]);
      if (lock?.[0]?.['locked'] !== 'true') return 'busy';
      if (finished.length === 0) return 'none';
      const { total } = rows[0] as BatchRow;
      return total === maxRows || rows.length < total ? 'more' : 'last';
    });
}

const INSERT_DEAD_LETTER = `
  insert into dead_letters (queue, message_id, type, body, reason) values ($1, $2, $3, $4, $5) on conflict do nothing`;

async function insertDeadLetters(
  connection: BorrowedConnection,
  { message_id: id, type, body }: OutboxRow,
  { deadLetters }: DeadLettered,
): Promise<void> {
  for (const { queue, reason } of deadLetters) {
    await connection.run(INSERT_DEAD_LETTER, [queue, id, type, body, reason]);
  }
}
