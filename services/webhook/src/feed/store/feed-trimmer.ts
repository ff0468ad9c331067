import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { lockFeeds } from './feed-writer.ts';

/** How many events one run deletes at most, and of how many workspaces one transaction. */
const BATCH = 1_000;
const WORKSPACES = 20;

/**
 * The last event that has too many bytes behind it, with its own, and the positions of the feed's ends: found by halving,
 * since the counts of bytes only grow.
 */
const FIND_EXCESS = `
  with recursive feed as (
    select swept, position, recorded_bytes - $2::bigint as beyond from feed_workspaces where workspace_id = $1
  ), search (low, high) as (
    select swept, position + 1 from feed
    union all
    select case when e.recorded_bytes <= feed.beyond then e.position else search.low end,
      case when e.recorded_bytes <= feed.beyond then search.high else e.position end
    from search cross join feed
    join feed_events e on e.workspace_id = $1 and e.position = (search.low + search.high) / 2
    where search.high - search.low > 1
  )
  select feed.swept, max(search.low) as last from feed cross join search group by feed.swept`;

/** Begins behind what was deleted earlier: the index may still have its entries. */
const DELETE = `
  with range as materialized (
    select w.workspace_id, w.swept, last.position
    from unnest((select $1::bigint[]), (select $2::bigint[])) as last (workspace_id, position)
    join feed_workspaces w on w.workspace_id = last.workspace_id
  ), deleted as (
    delete from feed_events e using range
    where e.workspace_id = range.workspace_id and e.position > range.swept and e.position <= range.position
    returning e.workspace_id, case when not e.restricted then e.position end as unrestricted
  )
  update feed_workspaces w set swept = greatest(w.swept, range.position),
    unrestricted_swept = coalesce(d.unrestricted, w.unrestricted_swept)
  from range left join (
    select workspace_id, count(*) as events, max(unrestricted) as unrestricted from deleted group by workspace_id) d
    on d.workspace_id = range.workspace_id
  where w.workspace_id = range.workspace_id
  returning coalesce(d.events, 0) as events`;

/** A workspace and the position of the last event to delete. */
type Deletion = readonly [workspaceId: number, last: number];

/**
 * Deletes the oldest events of a workspace's feed, a thousand at most, as far as it has more than this many bytes. Returns
 * how many.
 */
export async function deleteExcess(database: Knex, workspaceId: number, maxBytes: number): Promise<number> {
  const values = [workspaceId, maxBytes];
  const [excess] = await query<{ swept: number; last: number }>(database, {
    name: 'find-feed-excess',
    text: FIND_EXCESS,
    values,
  });
  if (excess === undefined || excess.last <= excess.swept) return 0;
  return deleteUpTo(database, [[workspaceId, Math.min(excess.last, excess.swept + BATCH)]]);
}

/** Deletes events that were recorded before a time, about a thousand at most, and returns how many. */
export async function deleteRecordedBefore(database: Knex, before: Instant): Promise<number> {
  const expired = await query<{ workspace_id: number; position: number }>(database, {
    text: `select workspace_id, position from feed_events where recorded_at < $1 order by recorded_at limit ${BATCH}`,
    values: [before],
  });
  const last = new Map<number, number>();
  for (const { workspace_id: id, position } of expired) last.set(id, Math.max(position, last.get(id) ?? 0));
  return deleteUpTo(
    database,
    [...last].sort(([a], [b]) => a - b),
  );
}

/**
 * The recorder of events waits for one transaction at most: it locks feeds in the order of their workspaces, so these go
 * the other way.
 * @param deletions in the order of the workspaces
 */
async function deleteUpTo(database: Knex, deletions: readonly Deletion[]): Promise<number> {
  let deleted = 0;
  for (let end = deletions.length; end > 0; end -= WORKSPACES) {
    const some = deletions.slice(Math.max(0, end - WORKSPACES), end);
    const [, feeds] = await pipeline(database, [lockFeeds(some.map(([id]) => id)), deleteStatement(some)]);
    for (const { events } of feeds) deleted += events;
  }
  return deleted;
}

const deleteStatement = (deletions: readonly Deletion[]): Statement<{ events: number }> => ({
  name: 'delete-events',
  text: DELETE,
  values: [deletions.map(([id]) => id), deletions.map(([, last]) => last)],
});
