import { type Knex, pipeline } from '@tocsin/postgres';
import type { OutboxRow } from './outbox.ts';

/** The class of the advisory locks of relays. */
const LOCK_CLASS = 0x6f757462;

/** What a batch may have at most. */
export interface BatchLimits {
  rows: number;
  bytes: number;
  /** Rows of one workspace. */
  perWorkspace: number;
}

export interface BatchRow extends OutboxRow {
  id: number;
}

/** A row with what was left. */
interface ReadRow extends BatchRow {
  has_more_workspaces: boolean;
  has_more_rows: boolean;
  last_workspace: number;
}

/** The rows that were read, and what was left. */
export interface ReadBatch {
  /** Whether this relay holds the lock of the outbox; if not, there are no rows. */
  isLocked: boolean;
  rows: BatchRow[];
  /** Whether the outbox has rows that did not fit. */
  hasMore: boolean;
  /** The workspace after which the next batch begins. */
  after: number;
}

/**
 * Begins a batch in a transaction: takes the lock of the outbox, if no other relay has it, and reads the first rows of each
 * workspace that has any, one of each workspace in turn, up to a number and to so many bytes, but one at least. A loose
 * index scan finds the workspaces, so the cost does not depend on what one of them has queued. If there are more workspaces
 * than rows in a batch, the next batch begins after the last of them. With few workspaces each may have twice its part,
 * for what others leave.
 *
 * The rows are read by a statement of their own: its snapshot must be later than the lock, or it would show rows that
 * are published.
 * @param trx of the isolation level READ COMMITTED
 * @param options.frozenAfter milliseconds without a statement after which the server ends the transaction
 */
export async function beginBatch(
  trx: Knex,
  options: BatchLimits & { after: number; frozenAfter: number },
): Promise<ReadBatch> {
  const [, [lock], rows] = await pipeline<[unknown, { locked: string }, ReadRow]>(trx, statementsOf(options));
  const [first] = rows;
  return {
    isLocked: lock?.locked === 'true',
    rows,
    hasMore: first !== undefined && (first.has_more_workspaces || first.has_more_rows),
    after: first?.has_more_workspaces === true ? first.last_workspace : NO_WORKSPACE,
  };
}

const statementsOf = ({
  after,
  rows,
  bytes,
  perWorkspace,
  frozenAfter,
}: BatchLimits & { after: number; frozenAfter: number }) =>
  [
    {
      name: 'bound-pause',
      // The plans are kept, and may be made while the outbox is empty: then those that read all of it look as good.
      text: `select set_config('idle_in_transaction_session_timeout', $1, true),
        set_config('enable_seqscan', 'off', true)`,
      values: [String(frozenAfter)],
    },
    { name: 'lock-outbox', text: LOCK },
    { name: 'read-outbox', text: READ, values: [after, rows, perWorkspace, bytes] },
  ] as const;

const LOCK = `
  select set_config(
    'tocsin.publishes', pg_try_advisory_xact_lock(${LOCK_CLASS}, 'outbox'::regclass::oid::int)::text, true
  ) as locked`;

/**
 * A row is looked up by both columns: in a plan for an empty outbox each index is as good as the other.
 *
 * $1: the workspace after which it begins; $2: rows; $3: rows of one workspace; $4: bytes.
 */
const READ = `
  with recursive workspaces as (
    (select workspace_id, 1 as nth from outbox
      where current_setting('tocsin.publishes', true) = 'true' and workspace_id > $1
      order by workspace_id limit 1)
    union all
    select next.workspace_id, nth + 1 from workspaces cross join lateral (
      select workspace_id from outbox where workspace_id > workspaces.workspace_id order by workspace_id limit 1
    ) as next
    where nth < $2
  ), shares as materialized (
    select count(*) as workspaces, max(workspace_id) as last_workspace,
      least($3, ceil(2.0 * $2 / greatest(1, count(*))))::bigint as share
    from workspaces
  ), waiting as (
    select head.id, workspaces.workspace_id, head.turn from workspaces cross join lateral (
      select id, row_number() over (order by id) as turn from outbox
      where workspace_id = workspaces.workspace_id order by id limit (select share from shares)
    ) as head
  ), chosen as (
    select id, workspace_id, turn, count(*) over () as total, max(turn) over () as longest from waiting
    order by turn, workspace_id limit $2
  )
  select id, message_id, workspace_id, type, body, trace_context,
    workspaces = $2 as has_more_workspaces, last_workspace,
    count(*) over () < total or longest = share as has_more_rows
  from (
    select outbox.id, message_id, outbox.workspace_id, type, body, trace_context,
      turn, total, longest, share, workspaces, last_workspace,
      sum(octet_length(body)) over (order by turn, outbox.workspace_id) as sum_of_bytes
    from chosen cross join shares cross join lateral (
      select id, message_id, workspace_id, type, body, trace_context from outbox
      where workspace_id = chosen.workspace_id and id = chosen.id limit 1
    ) as outbox
  ) as measured
  where sum_of_bytes <= $4 or sum_of_bytes = octet_length(body)
  order by turn, workspace_id`;

/** Before the first workspace; rows without one have 0. */
export const NO_WORKSPACE = -1;
