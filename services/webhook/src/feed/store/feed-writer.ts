import { type Knex, pipeline, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { currentTime } from '../../shared/store/time.ts';
import { markOf } from '../domain/feed-place.ts';

/** An event that the feed may not have yet. */
export interface IncomingEvent {
  id: string;
  workspaceId: number;
  type: string;
  /** As the API writes it: `incident:12`. */
  resource: string;
  body: string;
  /** Whether it is about a restricted incident. */
  isRestricted: boolean;
}

/** The feed of a workspace that is locked, and the position of its latest event; 0 before the first. */
export interface LockedFeed {
  workspace_id: number;
  position: number;
}

/** What a batch added to the feed of one workspace. */
export interface Addition {
  workspace_id: number;
  /** The position of its latest event. */
  position: number;
  event_ids: string[];
}

/**
 * The channel of notifications of new events: `<workspace ID> <position of its latest event> <mark of that>`. It belongs to
 * a database, and so to one installation.
 */
export const FEED_CHANNEL = 'tocsin_feed_recorded';

/** Bytes that are counted for each event besides its text: its other columns and its entries in the indexes. */
const EVENT_BYTES = 384;

/**
 * The row of each workspace is locked until the commit, so the positions become visible in their order and without gaps.
 * The lock also makes the look-up of known events reliable.
 */
const RECORD = `
  with moment as materialized (
    select ${currentTime('$7')} as now
  ), incoming as (
    select workspace_id, head, event_id, type, resource, body, restricted, nth
    from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $9::boolean[]) with ordinality
      as event (workspace_id, head, event_id, type, resource, body, restricted, nth)
  ), numbered as (
    select workspace_id, head + row_number() over in_order as position, event_id, type, resource, body, restricted,
      sum(octet_length(body) + ${EVENT_BYTES}) over in_order as bytes
    from incoming
    left join lateral (
      select true as recorded from feed_events e
      where e.workspace_id = incoming.workspace_id and e.event_id = incoming.event_id limit 1
    ) known on true
    where known.recorded is null
    window in_order as (partition by workspace_id order by nth)
  ), inserted as (
    insert into feed_events (workspace_id, position, event_id, type, resource, body, restricted, recorded_at, recorded_bytes)
    select n.workspace_id, n.position, n.event_id, n.type, n.resource, n.body, n.restricted, greatest(w.recorded_at, moment.now),
      w.recorded_bytes + n.bytes
    from numbered n join feed_workspaces w on w.workspace_id = n.workspace_id cross join moment
    returning workspace_id, position, event_id, restricted, recorded_at, recorded_bytes
  ), added as (
    select workspace_id, max(position) as position, max(position) filter (where not restricted) as unrestricted, array_agg(event_id::text order by position) as event_ids,
      max(recorded_at) as recorded_at, max(recorded_bytes) as recorded_bytes
    from inserted group by workspace_id
  )
  update feed_workspaces w
  set position = added.position, recorded_at = added.recorded_at, recorded_bytes = added.recorded_bytes,
    unrestricted_position = coalesce(added.unrestricted, w.unrestricted_position)
  from added where w.workspace_id = added.workspace_id
  returning w.workspace_id, w.position, added.event_ids, 
    pg_notify($8, concat_ws(' ', w.workspace_id, w.position, ${markOf('added.event_ids[cardinality(added.event_ids)]')}))`;

const LOCK = `
  select workspace_id, position from feed_workspaces
  where workspace_id = any((select $1::bigint[])::bigint[]) order by workspace_id for update`;

/** Locks the feeds of workspaces, in the order of their IDs, so that transactions cannot wait for each other in a circle. */
export const lockFeeds = (workspaceIds: readonly number[]): Statement<LockedFeed> => ({
  name: 'lock-feeds',
  text: LOCK,
  values: [workspaceIds],
});

/** Creates the feeds of workspaces that have none, and returns all of them locked. */
export async function withMissingFeeds(
  trx: Knex.Transaction,
  workspaceIds: readonly number[],
  locked: readonly LockedFeed[],
): Promise<readonly LockedFeed[]> {
  const existing = new Set(locked.map(({ workspace_id: id }) => id));
  const missing = workspaceIds.filter((id) => !existing.has(id)).sort((a, b) => a - b);
  if (missing.length === 0) return locked;
  const add: Statement = {
    name: 'add-feeds',
    text: `insert into feed_workspaces (workspace_id) select id from unnest((select $1::bigint[])) as missing (id)
      on conflict do nothing`,
    values: [missing],
  };
  const [, all] = await pipeline(trx, [add, lockFeeds(workspaceIds)]);
  return all;
}

/**
 * Adds the events that the feeds do not have, in their order, each at the next position of its workspace. Processes that
 * wait for them are notified when the transaction commits.
 * @param now null: by the clock of the database
 */
export function recordStatement(
  events: readonly IncomingEvent[],
  { feeds, now }: { feeds: readonly LockedFeed[]; now: Instant | null },
): Statement<Addition> {
  const heads = new Map(feeds.map(({ workspace_id: id, position }) => [id, position]));
  const distinct = [...new Map(events.map((event) => [`${event.workspaceId} ${event.id}`, event])).values()];
  return {
    name: 'record-events',
    text: RECORD,
    values: [
      distinct.map(({ workspaceId }) => workspaceId),
      distinct.map(({ workspaceId }) => heads.get(workspaceId)),
      distinct.map(({ id }) => id),
      distinct.map(({ type }) => type),
      distinct.map(({ resource }) => resource),
      distinct.map(({ body }) => body),
      now,
      FEED_CHANNEL,
      distinct.map(({ isRestricted }) => isRestricted),
    ],
  };
}
