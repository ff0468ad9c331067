import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';

/** Bytes of a workspace, about. */
export interface WorkspaceBytes {
  workspaceId: number;
  bytes: number;
}

/** Bytes that are counted for each row besides its texts and values. */
const ROW_BYTES = 256;
/** Rows that one step of a measurement may read, and the incidents among them. */
const STEP_ROWS = 20_000;
const STEP_INCIDENTS = 2_500;
/** How soon after a measurement the next one may be due. */
const PAUSE = `interval '10 minutes'`;

/** In the next night (UTC), whose first six hours the workspaces share. */
const NIGHT = `(
  date_trunc('day', now() at time zone 'UTC') + interval '1 day'
  + make_interval(secs => workspace_storage.workspace_id * 7919 % 21600)) at time zone 'UTC'`;

/** A new row is due at once. */
const SCHEDULE = `
  insert into workspace_storage (workspace_id) select unnest($1::bigint[]) order by 1
  on conflict (workspace_id) do update set due_at = ${NIGHT} where workspace_storage.due_at is null`;

const REQUEST = `
  update workspace_storage set due_at = least(due_at, greatest(now(), measured_at + ${PAUSE}))
  where workspace_id = any((select $1::bigint[])::bigint[])`;

/** As they are stored, that is compressed; copies for searches are not counted. Reading the size reads no large text. */
const sizes = (...columns: string[]) =>
  [ROW_BYTES, ...columns.map((column) => `coalesce(pg_column_size(${column}), 0)`)].join(' + ');

const sumOf = (table: string, ...columns: string[]) =>
  `coalesce((select sum(${sizes(...columns)}) from ${table}
    where workspace_id = $1 and incident_id = chosen.id), 0)`;

const ATTACHMENTS = `(
    select incident_id, event.workspace_id, filename, url from timeline_events as event join timeline_attachments as file
      on file.workspace_id = event.workspace_id and file.timeline_event_id = event.id
    where event.workspace_id = $1
  ) as file`;

const TEXTS_OF_EVENT = ['title', 'body', 'tags', 'ai_context', 'evidence_links'];

/** The next incidents of a workspace by their numbers, with all that they have. */
const MEASURE_INCIDENTS = `
  with batch as (
    select id, number,
      1 + event_count + revision + (
        select count(*) + coalesce(sum(revision), 0) from follow_ups
        where workspace_id = $1 and incident_id = incidents.id
      ) + (select count(*) from former_postmortems
        where workspace_id = $1 and incident_id = incidents.id
      ) as rows,
      ${sizes('title', 'impact_summary', 'regions', 'incident_responders', 'roles')} as bytes
    from incidents where workspace_id = $1 and number > $2 and number > 0 order by number limit ${STEP_INCIDENTS}
  ), chosen as (
    select id, number, bytes from (
      select id, number, bytes, sum(rows) over (order by number) as total, row_number() over (order by number) as nth
      from batch
    ) as counted where total <= ${STEP_ROWS} or nth = 1
  )
  select max(number) as last, count(*) < (select count(*) from batch) or count(*) = ${STEP_INCIDENTS} as "hasMore",
    coalesce(sum(bytes
      + ${sumOf('timeline_events', ...TEXTS_OF_EVENT)} + ${sumOf('former_timeline_events', ...TEXTS_OF_EVENT, 'attachments')}
      + ${sumOf(ATTACHMENTS, 'filename', 'url')}
      + ${sumOf('pictures', 'content', 'thumbnail')}
      + ${sumOf('incident_values', 'value')} + ${sumOf('changelog', 'changes')}
      + ${sumOf('follow_ups', 'title', 'description')}
      + ${sumOf('postmortems', 'sections', 'template')} + ${sumOf('former_postmortems', 'sections')}), 0)::bigint as bytes
  from chosen`;

/** The next idempotency keys of a workspace, with their responses. */
const MEASURE_KEYS = `
  with chosen as (
    select user_id, route, key, ${sizes('body')} as bytes from idempotency_keys
    where workspace_id = $1 and (user_id, route, key) > ($2::bigint, $3::text, $4::text)
    order by user_id, route, key limit ${STEP_ROWS}
  )
  select coalesce(sum(bytes), 0)::bigint as bytes, count(*) = ${STEP_ROWS} as "hasMore",
    (select jsonb_build_array(user_id, route, key) from chosen order by user_id desc, route desc, key desc limit 1)
      as last
  from chosen`;

/** The position of an idempotency key in its workspace: user, route, key. */
type KeyPosition = readonly [number, string, string];
const BEFORE_ALL_KEYS: KeyPosition = [0, '', ''];

/** The one measurement that all processes work at: a step locks it, and nobody waits for the step of another. */
const TAKE_DUE = `
  select workspace_id as "workspaceId", next_number as "nextNumber", next_key as "nextKey" from workspace_storage
  where workspace_id = (
    select workspace_id from workspace_storage where due_at <= now() order by due_at, workspace_id limit 1
  ) and due_at <= now()
  for update skip locked`;

interface Measurement {
  workspaceId: number;
  nextNumber: number;
  nextKey: KeyPosition | null;
}

/** Reads the first entry of an index. */
const IS_DUE = `
  select 1 from (select due_at from workspace_storage where due_at is not null order by due_at limit 1) as first
  where due_at <= now()`;

/** What the last measurements of workspaces have found. */
const measuredBytes = (workspaceIds: readonly number[]): Statement<WorkspaceBytes> => ({
  name: 'find-measured-bytes',
  text: `select workspace_id as "workspaceId", measured_bytes as bytes from workspace_storage
    where workspace_id = any((select $1::bigint[])::bigint[])`,
  values: [workspaceIds],
});

const CONTINUE = `
  update workspace_storage set next_number = $2, next_key = $3, counted_bytes = counted_bytes + $4
  where workspace_id = $1`;

/** Keys expire without a write. */
const COMPLETE = `
  update workspace_storage
  set measured_bytes = counted_bytes + $2, measured_at = now(), due_at = case when $3::boolean then ${NIGHT} end,
    next_number = 0, next_key = null, counted_bytes = 0
  where workspace_id = $1 returning measured_bytes as bytes`;

/** Measures about how many bytes workspaces store. */
export function storageStore(db: Knex) {
  return {
    /** Schedules the next measurement of workspaces that are written to, and returns what their last ones have found. */
    async schedule(workspaceIds: readonly number[]): Promise<WorkspaceBytes[]> {
      const [, measured] = await pipeline<[never, WorkspaceBytes]>(db, [
        { name: 'schedule-measurements', text: SCHEDULE, values: [workspaceIds] },
        measuredBytes(workspaceIds),
      ]);
      return measured;
    },

    /** About how many bytes a workspace stores. */
    async stored(workspaceId: number): Promise<number> {
      const [measured] = await query(db, measuredBytes([workspaceId]));
      return measured?.bytes ?? 0;
    },

    /** Requests measurements before the night, each ten minutes after the last one of its workspace at the earliest. */
    async requestMeasurements(workspaceIds: readonly number[]): Promise<void> {
      await query(db, { name: 'request-measurements', text: REQUEST, values: [workspaceIds] });
    },

    /** Whether a measurement is due. */
    mayMeasure: async (): Promise<boolean> =>
      (await query(db, { name: 'is-measurement-due', text: IS_DUE, isPoll: true })).length > 0,

    /**
     * Takes one step of the measurement that is due longest, unless another process is taking it.
     * @returns the measured workspace if its measurement is complete; undefined if there is nothing to do
     */
    measure: async (): Promise<WorkspaceBytes | 'continues' | undefined> =>
      db.transaction(async (trx) => {
        const [due] = await query<Measurement>(trx, { name: 'take-due-measurement', text: TAKE_DUE });
        return due && measureStep(trx, due);
      }),
  };
}

async function measureStep(trx: Knex.Transaction, due: Measurement): Promise<WorkspaceBytes | 'continues'> {
  const { workspaceId } = due;
  const { bytes, ...progress } = await measureBatch(trx, due);
  if (progress.hasMore) {
    const { nextNumber, nextKey } = progress;
    const values = [workspaceId, nextNumber, nextKey && JSON.stringify(nextKey), bytes];
    await query(trx, { name: 'continue-measurement', text: CONTINUE, values });
    return 'continues';
  }
  const [measured] = await query<{ bytes: number }>(trx, {
    name: 'complete-measurement',
    text: COMPLETE,
    values: [workspaceId, bytes, progress.hasKeys],
  });
  return { workspaceId, bytes: measured?.bytes ?? 0 };
}

/** Measures the next incidents and, behind the last of them, the next idempotency keys. */
async function measureBatch(trx: Knex.Transaction, { workspaceId, nextNumber, nextKey }: Measurement) {
  let bytes = 0;
  let last = nextNumber;
  if (nextKey === null) {
    const [incidents] = await query<{ last: number | null; hasMore: boolean; bytes: number }>(trx, {
      text: MEASURE_INCIDENTS,
      values: [...[workspaceId, nextNumber]],
    });
    ({ bytes = 0 } = incidents ?? {});
    last = incidents?.last ?? nextNumber;
    if (incidents?.hasMore === true) return { hasMore: true, nextNumber: last, nextKey, bytes, hasKeys: false };
  }
  const [keys] = await query<{ last: KeyPosition | null; hasMore: boolean; bytes: number }>(trx, {
    text: MEASURE_KEYS,
    values: [...[workspaceId, ...(nextKey ?? BEFORE_ALL_KEYS)]],
  });
  const hasKeys = nextKey !== null || (keys?.last ?? null) !== null;
  return {
    ...{ hasMore: keys?.hasMore === true, nextNumber: last, nextKey: keys?.last ?? nextKey, hasKeys },
    bytes: bytes + (keys?.bytes ?? 0),
  };
}
