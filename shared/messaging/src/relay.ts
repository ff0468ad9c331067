import { setTimeout as delay } from 'node:timers/promises';
import { hasConsumer } from '@tocsin/contracts';
import { commitPipeline, type Knex, runOnce } from '@tocsin/postgres';
import { type Logger, type Metrics, startPeriodicTask, type PeriodicTask } from '@tocsin/runtime';
import type { Broker, DeadLettered, PublishOutcome } from './broker.ts';
import { observeOutbox, type RelayOutcome } from './outbox-metrics.ts';
import { type BatchRow, beginBatch, NO_WORKSPACE } from './outbox-batch.ts';
import type { OutboxRow } from './outbox.ts';
import { queueRoom } from './queue-room.ts';

/** What one batch has at most. All its messages wait for their confirms together. */
const BATCH = { rows: 500, bytes: 4_194_304, perWorkspace: 500 };
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

/**
 * `busy`: another relay publishes. `held`: the consumer is behind, so nothing was read. `more`: there are more rows, which
 * the broker may accept. `last`: there were no more than those of the batch. `none`: nothing was published.
 */
type BatchResult = 'busy' | 'held' | 'more' | 'last' | 'none';

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
 * with its insertion as a dead letter. Wake the relay after a commit; it also polls periodically.
 */
export function startRelay(options: RelayOptions): PeriodicTask {
  const { broker, log } = options;
  const publishBatch = batchPublisher(options);
  let lookAgain = false;

  const work = async (): Promise<boolean> => {
    if (!broker.connected) return false;
    const start = performance.now();
    const result = await publishBatch();
    if (result === 'held' || (result === 'busy' && lookAgain)) {
      // The other relay may have read its last batch before the commit that woke this one. Each commit under load wakes it.
      if (result === 'busy') lookAgain = false;
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
      if (result === 'last' || result === 'none' || result === 'held') return;
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
      after = next;
      const finished = rows.length === 0 ? [] : await publish(rows, trx);
      const ids = finished.map(({ id }) => id);
      if (ids.length > 0) await commitPipeline(trx, [{ name: '', text: DELETE, values: [ids] }]);
      if (!isLocked) return 'busy';
      if (finished.length === 0) return 'none';
      return hasMore ? 'more' : 'last';
    };
    return database.transaction(work, { isolationLevel: 'read committed' });
  };
}

const DELETE = 'delete from outbox where id = any($1::bigint[])';

const INSERT_DEAD_LETTER = `
  insert into dead_letters (queue, message_id, type, body, reason) values ($1, $2, $3, $4, $5) on conflict do nothing`;

async function insertDeadLetters(
  trx: Knex,
  { message_id: id, type, body }: OutboxRow,
  { deadLetters }: DeadLettered,
): Promise<void> {
  for (const { queue, reason } of deadLetters) {
    await runOnce(trx, INSERT_DEAD_LETTER, [queue, id, type, body, reason]);
  }
}
