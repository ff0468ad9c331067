import { type Knex, query } from '@tocsin/postgres';

/** Bytes of a workspace, about. */
export interface WorkspaceBytes {
  workspaceId: number;
  bytes: number;
}

/** What was written for a workspace. */
export interface WrittenBytes extends WorkspaceBytes {
  /** Those of responses that are stored with idempotency keys; they are not in `bytes`. */
  keyBytes: number;
}

/** Bytes that are counted for each row besides its texts and values. */
const ROW_BYTES = 256;
/** Bytes written until a workspace is measured again: this many, or a fiftieth of what it stores. */
const DUE_BYTES = 16 * 1_048_576;
const DUE_PART = 50;
/** Rows that one step of a measurement may read, and the incidents among them. */
const STEP_ROWS = 20_000;
const STEP_INCIDENTS = 500;

/** All that is stored for a workspace, with the responses of its keys. */
const STORED = `
  measured_bytes + written_bytes + coalesce((
    select sum(bytes) from key_storage where workspace_id = stored.workspace_id), 0)::bigint as bytes`;

const ADD_KEYS = `
  insert into key_storage (workspace_id, hour, bytes)
  select workspace_id, date_trunc('hour', now()), bytes
  from unnest($1::bigint[], $2::bigint[]) as written (workspace_id, bytes)
  order by workspace_id
  on conflict (workspace_id, hour) do update set bytes = key_storage.bytes + excluded.bytes`;

/** A new row is due at once. */
const ADD = `
  insert into workspace_storage as stored (workspace_id, written_bytes)
  select workspace_id, bytes from unnest($1::bigint[], $2::bigint[]) as written (workspace_id, bytes)
  order by workspace_id
  on conflict (workspace_id) do update set
    written_bytes = stored.written_bytes + excluded.written_bytes,
    due_at = coalesce(stored.due_at, case
      when stored.written_bytes + excluded.written_bytes >= greatest(${DUE_BYTES}, stored.measured_bytes / ${DUE_PART})
      then now() end)
  returning workspace_id as "workspaceId", ${STORED}`;

/** As they are stored, that is compressed; copies for searches are not counted. Reading the size reads no large text. */
const sizes = (...columns: string[]) =>
  [ROW_BYTES, ...columns.map((column) => `pg_column_size(${column})`)].join(' + ');

const MEASURE = `
  with batch as (
    select id, number,
      1 + event_count + revision + (
        select count(*) + coalesce(sum(revision), 0) from follow_ups where incident_id = incidents.id
      ) as rows,
      ${sizes('title', 'impact_summary', 'regions', 'incident_responders')} as bytes
    from incidents where workspace_id = $1 and number > $2 order by number limit ${STEP_INCIDENTS}
  ), chosen as (
    select id, number, bytes from (
      select id, number, bytes, sum(rows) over (order by number) as total, row_number() over (order by number) as nth
      from batch
    ) as counted where total <= ${STEP_ROWS} or nth = 1
  )
  select max(chosen.number) as last,
    coalesce(sum(chosen.bytes + coalesce(events.bytes, 0) + coalesce(former.bytes, 0) + coalesce(held.bytes, 0)
      + coalesce(entries.bytes, 0) + coalesce(left_to_do.bytes, 0)), 0)::bigint
      as bytes
  from chosen
  cross join lateral (
    select sum(${sizes('title', 'body', 'tags', 'ai_context', 'evidence_links')}) as bytes
    from timeline_events where incident_id = chosen.id) as events
  cross join lateral (
    select sum(${sizes('title', 'body', 'tags', 'ai_context', 'evidence_links')}) as bytes
    from former_timeline_events where incident_id = chosen.id) as former
  cross join lateral (
    select sum(${sizes('value')}) as bytes from incident_values where incident_id = chosen.id) as held
  cross join lateral (
    select sum(${sizes('changes')}) as bytes from changelog where incident_id = chosen.id) as entries
  cross join lateral (
    select sum(${sizes('title', 'description')}) as bytes from follow_ups where incident_id = chosen.id) as left_to_do`;

interface Measurement {
  workspace_id: number;
  next_number: number;
  written_bytes: number;
}

/** Reads the first entry of an index. */
const IS_DUE = `
  select 1 from (select due_at from workspace_storage where due_at is not null order by due_at limit 1) as first
  where due_at <= now()`;

/** Stores about how many bytes workspaces have. */
export function storageStore(db: Knex) {
  return {
    /** Adds what was written; returns what these workspaces store. */
    async add(written: readonly WrittenBytes[]): Promise<WorkspaceBytes[]> {
      const withKeys = written.filter(({ keyBytes }) => keyBytes > 0);
      if (withKeys.length > 0) {
        const bytes = withKeys.map(({ keyBytes }) => keyBytes);
        await query(db, {
          name: 'add-key-bytes',
          text: ADD_KEYS,
          values: [withKeys.map(({ workspaceId }) => workspaceId), bytes],
        });
      }
      const ids = written.map(({ workspaceId }) => workspaceId);
      return query<WorkspaceBytes>(db, {
        name: 'add-bytes',
        text: ADD,
        values: [ids, written.map(({ bytes }) => bytes)],
      });
    },

    /** About how many bytes a workspace stores. */
    async stored(workspaceId: number): Promise<number> {
      const row = await db('workspace_storage as stored')
        .where({ workspace_id: workspaceId })
        .first<{ bytes: number } | undefined>(db.raw(STORED));
      return row?.bytes ?? 0;
    },

    /** Requests a measurement of workspaces that were not measured in the last seconds. */
    async requestMeasurement(workspaceIds: readonly number[]): Promise<void> {
      await db('workspace_storage')
        .whereIn('workspace_id', workspaceIds)
        .whereNull('due_at')
        .whereRaw("measured_at < now() - interval '10 seconds'")
        .update({ due_at: db.fn.now() });
    },

    /** Whether a measurement is due. */
    mayMeasure: async (): Promise<boolean> =>
      (await query(db, { name: 'is-measurement-due', text: IS_DUE, isPoll: true })).length > 0,

    /**
     * Takes one step of the measurement that is due longest and that no other process works on.
     * @returns the measured workspace if its measurement is complete; undefined if none is due
     */
    measure: async (): Promise<WorkspaceBytes | 'continues' | undefined> =>
      db.transaction(async (trx) => {
        const due = await trx('workspace_storage')
          .where('due_at', '<=', trx.fn.now())
          .orderBy('due_at')
          .forUpdate()
          .skipLocked()
          .first<Measurement | undefined>('workspace_id', 'next_number', 'written_bytes');
        return due && measureStep(trx, due);
      }),
  };
}

/** Rows of `key_storage` that are deleted at once. */
const BATCH = 1_000;

/** Gives back the bytes of keys that are past their retention in hours. Returns whether there may be more. */
export async function sweepKeyStorage(db: Knex, hours: number): Promise<boolean> {
  const deleted = await db('key_storage')
    // The last key of an hour is an hour younger than the first.
    .whereRaw(
      `ctid = any(array(
        select ctid from key_storage where hour < now() - make_interval(hours => ?) order by hour limit ?))`,
      [hours + 1, BATCH],
    )
    .delete();
  return deleted === BATCH;
}

async function measureStep(trx: Knex.Transaction, due: Measurement): Promise<WorkspaceBytes | 'continues'> {
  const { workspace_id: workspaceId, next_number: after } = due;
  const [step] = await query<{ last: number | null; bytes: number }>(trx, {
    text: MEASURE,
    values: [workspaceId, after],
  });
  const { last = null, bytes = 0 } = step ?? {};
  const row = () => trx('workspace_storage as stored').where({ workspace_id: workspaceId });
  if (last !== null) {
    await row().update({
      next_number: last,
      counted_bytes: trx.raw('counted_bytes + ?', [bytes]),
      ...(after === 0 && { written_before: due.written_bytes }),
    });
    return 'continues';
  }
  const [measured] = await row()
    .update({
      measured_bytes: trx.raw('counted_bytes'),
      measured_at: trx.fn.now(),
      written_bytes: trx.raw('written_bytes - written_before'),
      due_at: null,
      next_number: 0,
      counted_bytes: 0,
      written_before: 0,
    })
    .returning<{ bytes: number }[]>(trx.raw(STORED));
  return { workspaceId, bytes: measured?.bytes ?? 0 };
}
