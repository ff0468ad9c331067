import { type EventStream, throttleByWorkspace, type WaitingRequest } from '@tocsin/http';
import type { FeedPlace } from './domain/feed-place.ts';
import type { FeedFollower, RecentEvents } from './recent-events.ts';
import { type FeedContext, type FeedQuery, type PageSize, readFeed } from './read-feed.ts';

export interface FollowContext extends FeedContext {
  recent: RecentEvents;
}

/** A page of the feed, from the database or from memory. */
export interface FollowedPage {
  events: readonly (FeedPlace & { type: string; body: string })[];
  /** Everything up to this place is read or was skipped. */
  place: FeedPlace;
  /** The same as far as the reader may know: its cursor. */
  shown: FeedPlace;
  hasMore: boolean;
}

/** What a reader follows, from where it begins. */
export interface FollowedFeed extends Omit<FeedQuery, 'after' | 'shown'> {
  /** The place of the reader's cursor; undefined if it has none. */
  after: FeedPlace | undefined;
  /** Reads the first page, of at most this size. */
  readFirst: (size: PageSize) => Promise<FollowedPage>;
}

/** What a stream reads at once; its client may be slow. */
const STREAM_PAGE: PageSize = { limit: 25, maxBytes: 1_048_576 };
/** Bytes from which the pages of a workspace's streams are read in turn, and at most half of the time. */
const LARGE_PAGE = 262_144;

/**
 * Reads the first page of a reader; if it has no events, waits for some (contract: Waiting and streaming). Without any,
 * the page is empty, and its cursor is later if events were skipped that the reader may know of.
 * @throws DomainError as `readFirst`, and as `WaitingRequest` if there is no place for another waiting request
 */
export async function waitForPage(
  context: FollowContext,
  feed: FollowedFeed,
  { waiting, milliseconds }: { waiting: WaitingRequest; milliseconds: number },
): Promise<FollowedPage> {
  const follower = context.recent.follow(feed.workspaceId);
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, milliseconds);
  waiting.signal.addEventListener('abort', end);
  try {
    let page = await readFirst(feed, follower);
    while (page.events.length === 0 && !over.signal.aborted) {
      waiting.begin();
      const { place: after, shown } = page;
      await follower.waitBehind(after, over.signal);
      page = await readOn(context, { ...feed, after, shown }, follower);
      // What is behind it may not be for this reader: only a page of the feed tells.
      const isLast = page.events.length > 0 || over.signal.aborted;
      if (isLast && page.hasMore) page = await readFeed(context, { ...feed, after, shown });
    }
    return page;
  } finally {
    clearTimeout(timer);
    waiting.signal.removeEventListener('abort', end);
    follower.leave();
  }
}

/**
 * Begins a stream (contract: Waiting and streaming). Reads the first events before it begins, so that what is wrong with
 * the request is an ordinary error.
 * @param idOf the cursor of a place
 * @throws DomainError as `waitForPage`
 */
export async function openStream(
  context: FollowContext,
  feed: FollowedFeed,
  { waiting, idOf }: { waiting: WaitingRequest; idOf: (place: FeedPlace) => string },
): Promise<EventStream> {
  const { signal } = waiting;
  const query = { ...feed, ...STREAM_PAGE };
  waiting.begin();
  const follower = context.recent.follow(query.workspaceId);
  signal.addEventListener('abort', follower.leave);
  if (signal.aborted) follower.leave();

  let first: FollowedPage | undefined = await readFirst(query, follower).catch((error: unknown) => {
    follower.leave();
    throw error;
  });
  let { place, shown, hasMore } = first;
  let isLarge = bytesOf(first) >= LARGE_PAGE;
  const partOf = (page: FollowedPage) => ({
    events: page.events.map((event) => ({ id: idOf(event), event: event.type, data: event.body })),
    position: () => idOf(page.shown),
  });
  return {
    next: async () => {
      if (first !== undefined) {
        const part = partOf(first);
        first = undefined;
        return part;
      }
      for (;;) {
        if (!hasMore) await follower.waitBehind(place, signal);
        if (signal.aborted) return undefined;
        const read = async () => readOn(context, { ...query, after: place, shown }, follower);
        const page = isLarge && hasMore ? await throttleByWorkspace(query.workspaceId, read) : await read();
        isLarge = bytesOf(page) >= LARGE_PAGE;
        const hasMoved = page.shown.position > shown.position;
        ({ place, shown, hasMore } = page);
        if (hasMoved) return partOf(page);
      }
    },
  };
}

const bytesOf = ({ events }: FollowedPage) => events.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);

/** From memory if it has the events; readers behind them read pages of their own. */
const readOn = async (context: FollowContext, query: FeedQuery, follower: FeedFollower): Promise<FollowedPage> =>
  (await follower.read(query)) ?? readFeed(context, query);

const readFirst = async ({ after, ...feed }: FollowedFeed, follower: FeedFollower): Promise<FollowedPage> =>
  after !== undefined && follower.isLatest(after)
    ? { events: [], place: after, shown: after, hasMore: false }
    : feed.readFirst(feed);
