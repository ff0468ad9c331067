import type { Principal } from '@tocsin/schemas';
import { DomainError, JsonRows, LAST_EVENT_ID_HEADER, visibleFrom } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Time } from '../../shared/store/time.ts';
import type { FeedPlace } from '../domain/feed-place.ts';
import type { FeedCursors } from '../feed-cursors.ts';
import { type FollowedFeed, openStream, waitForPage } from '../follow-feed.ts';
import type { RecentEvents } from '../recent-events.ts';
import { endOfFeed, type FeedContext, type PageSize, readFeed, readFeedFrom } from '../read-feed.ts';
import type { FeedApi } from './contracts.ts';
import { type FeedRequest, readFeedRequest } from './request.ts';

export interface FeedDependencies extends FeedContext {
  time: Time;
  cursors: FeedCursors;
  recent: RecentEvents;
}

/** The event feed (contract: Event feed, Waiting and streaming). */
export const feedHandlers = (dependencies: FeedDependencies): FeedApi => ({
  listEvents: async ({ principal, query, waiting }) => {
    const { workspace } = principal;
    const request = readFeedRequest(query, principal, waiting.lastEventId);
    const idOf = (place: FeedPlace) => dependencies.cursors.encode(workspace.id, place);
    if (waiting.wantsStream) {
      const open = async () => {
        const feed = await followedFeed(dependencies, { request, workspace });
        return openStream(dependencies, feed, { waiting, idOf });
      };
      return { stream: await (waiting.lastEventId === undefined ? open() : open().catch(rethrowForLastEventId)) };
    }
    const feed = await followedFeed(dependencies, { request, workspace });
    const seconds = waiting.mayWait ? (query.wait ?? 0) : 0;
    const page =
      seconds === 0
        ? await feed.readFirst(feed)
        : await waitForPage(dependencies, feed, { waiting, milliseconds: 1_000 * seconds });
    const events = new JsonRows<never>();
    // The text as it is, so that no value changes.
    for (const { body } of page.events) events.add(Buffer.from(body));
    const pagination = { limit: request.limit, has_more: page.hasMore, next_cursor: idOf(page.shown) };
    return { body: { events, pagination } };
  },
});

async function followedFeed(
  dependencies: FeedDependencies,
  options: { request: FeedRequest; workspace: Principal['workspace'] },
): Promise<FollowedFeed> {
  const { start, ...filter } = options.request;
  const { id: workspaceId, history_days: historyDays } = options.workspace;
  // Only a history limit needs the time.
  const hiddenBefore: Instant | null =
    historyDays === null ? null : visibleFrom(historyDays, await dependencies.time(dependencies.database));
  const query = { ...filter, workspaceId, visibleFrom: hiddenBefore };
  if ('after' in start) {
    const after = dependencies.cursors.decode(workspaceId, start.after);
    return { ...query, after, readFirst: async (size) => readFeed(dependencies, { ...query, ...size, after }) };
  }
  if ('since' in start || start.from === 'beginning') {
    const since = 'since' in start ? start.since : null;
    const readFirst = async (size: PageSize) => readFeedFrom(dependencies, { ...query, ...size, since });
    return { ...query, after: undefined, readFirst };
  }
  const readFirst = async () => endOfFeed(dependencies, query);
  return { ...query, after: undefined, readFirst };
}

/** An error about the cursor names where the cursor came from. */
function rethrowForLastEventId(error: unknown): never {
  if (!(error instanceof DomainError) || error.field !== 'after') throw error;
  throw new DomainError(error.code, error.message, { field: LAST_EVENT_ID_HEADER });
}
