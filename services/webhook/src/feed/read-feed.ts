/**
 * `feed` is the event feed: each event of a workspace once, at a position that never changes (contract: Event feed).
 * The room `deliveries` records events in a transaction that locks the feeds of their workspaces until its commit; so
 * positions become visible in order and without gaps, and an event that comes again is found (ADR 30). This file reads
 * what is behind a position. `follow-feed.ts` waits for more, or streams it, and holds no connection meanwhile:
 * `recent-events.ts` listens to one notification for all readers, reads new events once for those at one position, and
 * looks itself every five seconds, in case a notice is lost (ADR 32). The oldest events are deleted by time and by
 * bytes. A cursor names the event that it has passed: it is refused if later events are deleted or hidden, or if a
 * restored database lacks that event; with synchronous replication, no reader gets a place that a standby may lack
 * (`store/feed-confirmation.ts`). Events about restricted incidents are skipped for readers who must not know of
 * them: their cursors are only behind other events, and only those expire them or end a wait.
 */
import { MAX_PAGE_BYTES } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { FeedConfirmation } from './store/feed-confirmation.ts';
import { type FeedEvent, type FeedFilter, type FeedRead, feedReader } from './store/feed-reader.ts';
import type { FeedPlace } from './domain/feed-place.ts';
import { cursorExpired, cursorOfAnotherFeed } from './feed-cursors.ts';

export interface FeedContext {
  database: Knex;
  confirm: FeedConfirmation;
}

/** How much is read at once, at most. */
export interface PageSize {
  limit: number;
  /** Default: as many as a page has. One event may have more. */
  maxBytes?: number;
}

export interface FeedQuery extends FeedFilter, PageSize {
  workspaceId: number;
  /** The place behind which events are read. */
  after: FeedPlace;
  /** Where the reader knows that it is: before events that it must not know of. Default: `after`. */
  shown?: FeedPlace;
  /** Events that were recorded earlier are hidden; null: none. */
  visibleFrom?: Instant | null;
}

/** Events of the feed in their order: at most `limit`, and at most as many bytes as a page has. */
export interface FeedPage {
  events: FeedEvent[];
  /** Everything up to this place is read or was skipped: the next page begins behind it. */
  place: FeedPlace;
  /** The same as far as the reader may know: its cursor. */
  shown: FeedPlace;
  /** Whether there are further events to read now. */
  hasMore: boolean;
}

/**
 * Reads the events behind a place, which a cursor has (contract: Event feed).
 * @throws DomainError `cursor_expired` if events behind the place are deleted or hidden, or if the feed does not have the
 *   event that it has passed
 */
export async function readFeed(context: FeedContext, query: FeedQuery): Promise<FeedPage> {
  const { visibleFrom = null, after: cursor, shown = cursor } = query;
  const page = await read(context, { ...query, after: cursor.position, skipsDeleted: false });
  const { head, swept, after, firstRecordedAt } = page;
  // Nothing proves the place of an event that is deleted: only a database of a month ago could have had another one there.
  const isProven = after.mark === '' || after.mark === cursor.mark;
  if (after.position > head.position || !isProven) throw cursorOfAnotherFeed();
  const isHidden = visibleFrom !== null && firstRecordedAt !== null && firstRecordedAt < visibleFrom;
  if (after.position < swept || isHidden) throw cursorExpired();
  return pageOf(page, shown);
}

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
  return pageOf(await read(context, { ...query, after, skipsDeleted: true }));
}

/** The place behind a workspace's latest event, as a page without events. */
export async function endOfFeed(
  { database, confirm }: FeedContext,
  { workspaceId, seesRestricted }: Pick<FeedQuery, 'workspaceId' | 'seesRestricted'>,
): Promise<FeedPage> {
  const { head, shownHead } = await feedReader(database).end(workspaceId, seesRestricted);
  await confirm(workspaceId, head);
  return { events: [], place: head, shown: shownHead, hasMore: false };
}

async function read(
  { database, confirm }: FeedContext,
  query: Omit<FeedQuery, 'after'> & { after: number; skipsDeleted: boolean },
): Promise<FeedRead> {
  const page = await feedReader(database).read({ ...query, maxBytes: query.maxBytes ?? MAX_PAGE_BYTES });
  await confirm(query.workspaceId, page.head);
  return page;
}

/** @param before where the reader knew that it was: its cursor never goes back */
function pageOf({ events, hasMore, head, shownHead }: FeedRead, before?: FeedPlace): FeedPage {
  const last = events.at(-1);
  if (hasMore && last !== undefined) return { events, hasMore, place: last, shown: last };
  const shown = [before, last]
    .filter((place) => place !== undefined)
    .reduce((latest, place) => (place.position > latest.position ? place : latest), shownHead);
  return { events, hasMore, place: head, shown };
}
