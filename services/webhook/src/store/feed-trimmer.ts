import { type Knex, runPrepared } from '@tocsin/runtime';

/** Events that are deleted at once. */
const BATCH = 1_000;

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

/**
 * Deletes the oldest events of a workspace's feed, a thousand at most, as far as it has more than this many bytes. Returns
 * how many. Only the last statement takes the lock that the recorder needs.
 */
export async function deleteExcess(trx: Knex.Transaction, workspaceId: number, maxBytes: number): Promise<number> {
  const values = [workspaceId, maxBytes];
  const [excess] = await runPrepared<{ swept: number; last: number }>(trx, 'find-feed-excess', FIND_EXCESS, values);
  if (excess === undefined || excess.last <= excess.swept) return 0;
  const last = Math.min(excess.last, excess.swept + BATCH);
  const own = (table: string) => trx(table).where({ workspace_id: workspaceId });
  // Not from the first position: its index entries may still be there.
  const deleted = await own('feed_events').where('position', '>', excess.swept).where('position', '<=', last).delete();
  await own('feed_workspaces').update({ swept: trx.raw('greatest(swept, ?::bigint)', [last]) });
  return deleted;
}
