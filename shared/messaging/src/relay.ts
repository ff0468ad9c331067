import { setTimeout as delay } from 'node:timers/promises';
import { hasConsumer } from '@tocsin/schemas';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { type Logger, type Metrics, startPeriodicTask, type PeriodicTask } from '@tocsin/runtime';
import type { Broker, DeadLettered, PublishOutcome } from './broker.ts';
import { observeOutbox, type RelayOutcome } from './outbox-metrics.ts';
import { type BatchRow, beginBatch, NO_WORKSPACE } from './outbox-batch.ts';
import type { OutboxRow } from './outbox.ts';
import { queueRoom } from './queue-room.ts';

/** What one batch has at most. All its messages wait for their confirms together. */
const BATCH = { rows: 500, bytes: 4_194_304, perWorkspace: 500 };
/** Milliseconds until the relay tries again after a failure, or while its broker is away. */
const RETRY = 250;
/** Milliseconds between two looks for rows of a process that ended before its relay published them. */
const POLL_INTERVAL = 20_000;
/**
 * Milliseconds between the beginnings of two batches, so that rows gather when many are committed: a larger batch costs
 * hardly more than a small one, here and in the services that consume it. A row after a pause does not wait, and neither
 * does a backlog.
 */
const GATHERING = 20;
/** Milliseconds after which a relay that was woken while another one published looks again: each time twice as long. */
const LOOK_AGAIN = { first: 25, longest: 250 };
/** How often a relay that stops looks again while another one publishes. */
const LAST_LOOKS = 40;
/**
 * Milliseconds without a statement after which the server ends the transaction of a relay, and with it the relay's lock.
 * More than the broker has for its confirms.
 */
const FROZEN_AFTER = 15_000;

/**
 * `busy`: another relay publishes. `held`: the consumer is behind, so nothing was read. `more`: there are more rows, which
 * the broker may accept. `last`: there were no more than those of the batch. `failed`: some of the last rows, or all, were
 * not published. `empty`: there was none.
 */
type BatchResult = 'busy' | 'held' | 'more' | 'last' | 'failed' | 'empty';

export interface RelayOptions {
  database: Knex;
  broker: Broker;
  log: Logger;
  metrics: Metrics;
  /** Milliseconds after which another relay takes over from one that does not continue; default `FROZEN_AFTER`. */
  frozenAfter?: number;
}

/**
 * Publishes a service's outbox, by turns of the workspaces (ADR 48), and the rows of each in the order of their IDs: so the
 * events of one resource in the order of its revisions or versions. Any number of relays may run: one publishes at a
 * time, and the next batch may be another's. A row is deleted only after the broker has confirmed its message, or together
 * with its insertion as a dead letter. Wake the relay after every commit that added rows: its own looks are seldom.
 */
export function startRelay(options: RelayOptions): PeriodicTask {
  const { database, broker, log } = options;
  const publishBatch = batchPublisher(options);
  let isWoken = false;
  let lookAgainAfter = LOOK_AGAIN.first;

  const work = async (): Promise<boolean | number> => {
    if (!broker.connected) return RETRY;
    if (!isWoken && (await isEmpty(database))) return false;
    isWoken = false;
    const start = performance.now();
    const result = await publishBatch();
    if (result === 'busy') {
      // The other relay may have read its last batch before the commit that woke this one.
      await delay(lookAgainAfter);
      lookAgainAfter = Math.min(2 * lookAgainAfter, LOOK_AGAIN.longest);
      return true;
    }
    lookAgainAfter = LOOK_AGAIN.first;
    if (result === 'failed') return RETRY;
    if (result === 'held') await delay(LOOK_AGAIN.first);
    if (result === 'last') await delay(Math.max(0, GATHERING - (performance.now() - start)));
    return result === 'more' || result === 'held';
  };
  const task = startPeriodicTask({
    name: 'publishing the outbox',
    interval: POLL_INTERVAL,
    retryAfter: RETRY,
    log,
    work,
  });
  // What processes left that ended before.
  task.wake();

  /** Otherwise the last events would wait until a relay of this service runs again. */
  const publishRest = async () => {
    for (let looks = 0; looks < LAST_LOOKS && broker.connected; looks += 1) {
      const result = await publishBatch();
      if (result === 'more') looks = 0;
      else if (result === 'busy') await delay(LOOK_AGAIN.first);
      else return;
    }
  };
  return {
    wake: () => {
      isWoken = true;
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
  const room = queueRoom(broker);
  let after = NO_WORKSPACE;

  /** Publishes the rows, and returns those that are finished. */
  const publish = async (rows: readonly BatchRow[], trx: Knex): Promise<BatchRow[]> => {
    const outcomes = await broker.publish(
      rows.map((row) => ({ id: row.message_id, type: row.type, body: row.body, trace: row.trace_context })),
    );
    const finished: BatchRow[] = [];
    for (const [index, row] of rows.entries()) {
      const outcome: PublishOutcome = outcomes[index] ?? 'failed';
      published.inc({ outcome: (typeof outcome === 'string' ? outcome : 'dead_lettered') satisfies RelayOutcome });
      if (typeof outcome !== 'string') await insertDeadLetters(trx, row, outcome);
      // Without a queue for its type an event is unroutable by design.
      if (outcome !== 'failed' && (outcome !== 'unroutable' || !hasConsumer(row.type))) finished.push(row);
    }
    room.used(finished);
    return finished;
  };

  return async (): Promise<BatchResult> => {
    const limits = await room.limits({ ...BATCH, rows: maxRows });
    if (limits === undefined) return 'held';
    const work = async (trx: Knex.Transaction): Promise<BatchResult> => {
      const { isLocked, rows, hasMore, after: next } = await beginBatch(trx, { ...limits, after, frozenAfter });
      // A batch that begins behind a workspace does not see the rows of those before it.
      const mayHaveMore = hasMore || after !== NO_WORKSPACE;
      after = next;
      const finished = rows.length === 0 ? [] : await publish(rows, trx);
      if (finished.length > 0) await pipeline(trx, [deleteStatement(finished)], { commit: true });
      if (!isLocked) return 'busy';
      if (mayHaveMore) return finished.length === 0 && rows.length > 0 ? 'failed' : 'more';
      if (finished.length < rows.length) return 'failed';
      return rows.length === 0 ? 'empty' : 'last';
    };
    return database.transaction(work, { isolationLevel: 'read committed' });
  };
}

/** Whether no row was committed that is not published. */
async function isEmpty(database: Knex): Promise<boolean> {
  const rows = await query(database, {
    name: 'is-outbox-empty',
    text: 'select 1 from outbox order by id limit 1',
    isPoll: true,
  });
  return rows.length === 0;
}

const DELETE = `
  delete from outbox where ctid = any(array(
    select outbox.ctid from unnest((select $1::bigint[]), (select $2::bigint[])) as finished (workspace_id, id)
    cross join lateral (
      select ctid from outbox where workspace_id = finished.workspace_id and id = finished.id limit 1
    ) as outbox))`;

const deleteStatement = (rows: readonly BatchRow[]): Statement => ({
  name: 'delete-published',
  text: DELETE,
  values: [rows.map((row) => row.workspace_id), rows.map(({ id }) => id)],
});

const INSERT_DEAD_LETTER = `
  insert into dead_letters (queue, message_id, type, body, reason) values ($1, $2, $3, $4, $5) on conflict do nothing`;

async function insertDeadLetters(
  trx: Knex,
  { message_id: id, type, body }: OutboxRow,
  { deadLetters }: DeadLettered,
): Promise<void> {
  for (const { queue, reason } of deadLetters) {
    await query(trx, { text: INSERT_DEAD_LETTER, values: [queue, id, type, body, reason] });
  }
}
