import { type Knex, query } from '@tocsin/postgres';
import { boundedCache } from '@tocsin/runtime';
import type { FeedPlace } from '../domain/feed-place.ts';

/** Waits until a standby has the feed of a workspace up to a place. */
export type FeedConfirmation = (workspaceId: number, head: FeedPlace) => Promise<void>;

const CACHE_BYTES = 4 * 1_048_576;
/** Milliseconds between two looks at whether the server waits for standbys. */
const LOOK = 10_000;

/**
 * A commit whose wait for a synchronous standby was cancelled is visible without it, and lost if the standby takes over: a
 * cursor that has passed it would be refused then. So a reader gets a place once a later commit has waited for the standby.
 * Without synchronous replication nothing is confirmed, and nothing is committed.
 */
export function feedConfirmation(database: Knex): FeedConfirmation {
  const confirmed = boundedCache<number, FeedPlace>({ bytes: CACHE_BYTES });
  let lookedAt = -Infinity;
  let isSynchronous = false;
  return async (workspaceId, head) => {
    const latest = confirmed.get(workspaceId);
    if (latest !== undefined && (latest.position > head.position || latest.mark === head.mark)) return;
    if (performance.now() - lookedAt > LOOK) {
      const [row] = await query<{ isSynchronous: boolean }>(database, {
        name: 'is-replication-synchronous',
        text: `select current_setting('synchronous_standby_names') <> '' as "isSynchronous"`,
      });
      isSynchronous = row?.isSynchronous === true;
      lookedAt = performance.now();
    }
    // It writes to the log alone, so its commit waits.
    if (isSynchronous)
      await query(database, {
        name: 'confirm-feed',
        text: `select pg_logical_emit_message(true, 'tocsin', '') as "position"`,
      });
    confirmed.set(workspaceId, head);
  };
}
