import { MAX_PAGE_BYTES } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type FeedEvent, type FeedFilter, feedReader } from './store/feed-reader.ts';
import { cursorExpired } from './feed-cursors.ts';

export interface FeedContext {
  database: Knex;
}

/** How much is read at once, at most. */
export interface PageSize {
  limit: number;
  /** Default: as many as a page has. One event may have more. */
  maxBytes?: number;
}

export interface FeedQuery extends FeedFilter, PageSize {
  workspaceId: number;
  /** The position behind which events are read. */
  after: number;
  /** Events that were recorded earlier are hidden; null: none. */
  visibleFrom?: Instant | null;
}

/** Events of the feed in their order: at most `limit`, and at most as many bytes as a page has. */
export interface FeedPage {
  events: FeedEvent[];
  /** Everything up to this position is read or was skipped: the next page begins behind it. */
  position: number;
  /** Whether there are further events to read now. */
  hasMore: boolean;
}

/**
 * Reads the events behind a position, which a cursor of the current epoch has (contract: Event feed).
 * @throws DomainError `cursor_expired` if events behind the position are deleted or hidden, or if it is not reached yet
 */
export const readFeed = async (context: FeedContext, query: FeedQuery): Promise<FeedPage> =>
  read(context, { ...query, skipsDeleted: false });

/** Reads the oldest events that are neither deleted nor hidden, and were recorded at `since` or later, if it is a time. */
export async function readFeedFrom(
  context: FeedContext,
  { since, ...query }: Omit<FeedQuery, 'after'> & { since: Instant | null },
): Promise<FeedPage> {
  const { workspaceId, visibleFrom = null } = query;
  const first = [since, visibleFrom]
    .filter((time) => time !== null)
    .sort()
    .at(-1);
  const after = first === undefined ? 0 : await feedReader(context.database).positionBefore(workspaceId, first);
  return read(context, { ...query, after, skipsDeleted: true });
}

/** The position of a workspace's latest event. */
export const endOfFeed = async ({ database }: FeedContext, workspaceId: number): Promise<number> =>
  feedReader(database).head(workspaceId);

async function read({ database }: FeedContext, query: FeedQuery & { skipsDeleted: boolean }): Promise<FeedPage> {
  const { visibleFrom = null, maxBytes = MAX_PAGE_BYTES } = query;
  const { head, swept, after, nextRecordedAt, events, hasMore } = await feedReader(database).read({
    ...query,
    maxBytes,
  });
  const isHidden = visibleFrom !== null && nextRecordedAt !== null && nextRecordedAt < visibleFrom;
  // A position beyond the end is one that a restored database has lost.
  if (after < swept || after > head || isHidden) throw cursorExpired();
  return { events, hasMore, position: hasMore ? (events.at(-1)?.position ?? after) : head };
}
