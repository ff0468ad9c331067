import type { Principal } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Clock, Instant } from '@tocsin/runtime';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { NO_RETENTION, type Retention } from '../domain/retention.ts';

export interface StoredRetention {
  revision: number;
  retention: Retention;
}

/** The retention of a workspace with the principal of the latest change, for which the deletions are made. */
export interface RetentionOf extends StoredRetention {
  workspaceId: number;
  setBy: Principal;
}

export async function findRetention(db: Knex, workspaceId: number): Promise<StoredRetention> {
  const [row] = await query<StoredRetention>(db, {
    name: 'find-retention',
    text: 'select revision, retention from retentions where workspace_id = $1',
    values: [workspaceId],
  });
  return row ?? { revision: 1, retention: NO_RETENTION };
}

/** Locks it against other changes, also if the workspace has none. */
export async function lockRetention(trx: Knex.Transaction, workspaceId: number): Promise<StoredRetention> {
  await query(trx, {
    text: `select pg_advisory_xact_lock(hashtextextended('retention ' || $1, 0))`,
    values: [String(workspaceId)],
  });
  return findRetention(trx, workspaceId);
}

export const keepRetention = ({ workspaceId, revision, retention, setBy }: RetentionOf): Statement => ({
  text: `insert into retentions (workspace_id, revision, retention, set_by) values ($1, $2, $3, $4)
    on conflict (workspace_id) do update
      set revision = excluded.revision, retention = excluded.retention, set_by = excluded.set_by`,
  values: [workspaceId, revision, JSON.stringify(retention), JSON.stringify(setBy)],
});

/** Returns the retentions of workspaces after an ID, in the order of their IDs. */
export const listRetentions = async (db: Knex, after: number, limit: number): Promise<RetentionOf[]> =>
  query<RetentionOf>(db, {
    name: 'list-retentions',
    text: `select workspace_id as "workspaceId", revision, retention, set_by as "setBy" from retentions
      where workspace_id > $1 order by workspace_id limit $2`,
    values: [after, limit],
    isPoll: true,
  });

/** Returns the IDs of incidents that were archived before a time, the earliest first. */
export async function listArchivedBefore(
  db: Knex,
  { workspaceId, before, limit }: { workspaceId: number; before: Instant; limit: number },
): Promise<number[]> {
  const rows = await query<{ id: number }>(db, {
    name: 'list-archived-before',
    text: `select id from incidents as archived
      where workspace_id = $1 and archived_at < $2 and ${visible('archived', 4)}
      order by archived_at, id limit $3`,
    values: [workspaceId, before, limit, currentViewer()],
  });
  return rows.map(({ id }) => id);
}

/** Counts the incidents that were archived before a time, up to a limit; with when the first one was. */
export async function countArchivedBefore(
  db: Knex,
  { workspaceId, before, limit }: { workspaceId: number; before: Instant; limit: number },
): Promise<{ count: number; first: Instant | null }> {
  const [row] = await query<{ count: number; first: Instant | null }>(db, {
    name: 'count-archived-before',
    text: `select count(*)::int as count, min(archived_at) as first from (
        select archived_at from incidents as archived
        where workspace_id = $1 and archived_at < $2 and ${visible('archived', 4)}
        order by archived_at, id limit $3) as due`,
    values: [workspaceId, before, limit, currentViewer()],
  });
  return row ?? { count: 0, first: null };
}

/** The time of the database or of this process, whichever is earlier. */
export async function certainTime(db: Knex, clock: Clock): Promise<Instant> {
  const [row] = await query<{ now: Instant }>(db, {
    name: 'find-time',
    text: `select date_trunc('milliseconds', clock_timestamp()) as now`,
    isPoll: true,
  });
  const ofProcess = clock.now();
  return row !== undefined && row.now < ofProcess ? row.now : ofProcess;
}

/** Rows of logs that one statement deletes. */
const BATCH = 1_000;

const LOGS = {
  access_log: { table: 'incident_accesses', time: 'hour' },
  alert_records: { table: 'alert_notifications', time: 'received_at' },
} as const;

/** Deletes a batch of the entries of a log before a time. Returns whether there may be more. */
export async function deleteEntries(
  db: Knex,
  log: keyof typeof LOGS,
  { workspaceId, before }: { workspaceId: number; before: Instant },
): Promise<boolean> {
  const { table, time } = LOGS[log];
  const rows = await query(db, {
    text: `delete from ${table} where workspace_id = $1 and id = any(array(
        select id from ${table} where workspace_id = $1 and ${time} < $2 order by ${time} limit ${BATCH}))
      returning id`,
    values: [workspaceId, before],
  });
  return rows.length === BATCH;
}
