import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from '@tocsin/postgres';
import { boundedCache, type Logger, RequestWork, runForRequest, startPeriodicTask } from '@tocsin/runtime';
import type { FeedPlace } from './domain/feed-place.ts';
import type { FeedConfirmation } from './store/feed-confirmation.ts';
import { listenForRecordedEvents, type RecentEvent, recentEventsReader } from './store/recent-events-reader.ts';

/**
 * The new events of the workspaces that have waiting readers. One connection listens for those of all workspaces, and the
 * events behind a position are read once, for all of the readers that have come to it (ADR 32).
 */
export interface RecentEvents {
  /** Follows a workspace until `leave`. To be called before the reader reads its first page. */
  follow(workspaceId: number): FeedFollower;
  stop(): Promise<void>;
}

/** Which events a reader wants, and behind which place. */
interface RecentQuery {
  after: FeedPlace;
  /** Where the reader knows that it is. Default: `after`. */
  shown?: FeedPlace;
  types: readonly string[];
  resource?: string | undefined;
  seesRestricted: boolean;
  limit: number;
}

/** Events that a reader gets, as of a page of the feed. */
interface RecentPage {
  events: readonly RecentEvent[];
  /** Everything up to this place is read or was skipped. */
  place: FeedPlace;
  /** The same as far as the reader may know. */
  shown: FeedPlace;
  hasMore: boolean;
}

/** A waiting reader's view of its workspace. */
export interface FeedFollower {
  /** Whether the place is behind the latest event, as far as this process knows. */
  isLatest(place: FeedPlace): boolean;
  /**
   * Reads events behind a place; `undefined` if they are not recent, deleted or lost: read a page of the feed instead.
   */
  read(query: RecentQuery): Promise<RecentPage | undefined>;
  /** Resolves when there are events behind a place, whatever their types, and when the signal is aborted. */
  waitBehind(place: FeedPlace, signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** How many of the latest events readers share. Those who are further behind read pages of what they want. */
const RECENT = 256;
/** What is read at once. Readers with the same position have the same next one, so that they share the next page, too. */
const READ = { limit: 25, maxBytes: 524_288 };
/** Bytes of the pages that are kept, in all workspaces, and for how many milliseconds: a restored database has others. */
const CACHE_BYTES = 33_554_432;
const CACHE_TTL = 1_000;
/** Milliseconds between two reads for a workspace, so that many small batches are read together. */
const PAUSE = 50;
/** Milliseconds between two looks at all workspaces, in case a notification is lost; one statement for all of them. */
const CHECK_INTERVAL = 5_000;
/** The same, where nobody can listen because sessions are shared. */
const UNTOLD_CHECK_INTERVAL = 250;

/** A workspace with waiting readers. */
interface Followed {
  readers: number;
  /** Behind the latest event that is known; `UNKNOWN`: none is. */
  latest: FeedPlace;
  /** When its events were last read, if that has read all of them. */
  readAt: number;
  waiting: Set<{ position: number; wake: () => void }>;
}

const UNKNOWN: FeedPlace = { position: -1, mark: '' };

/** Pages of events that the readers of a workspace share. */
function sharedPages(reader: ReturnType<typeof recentEventsReader>, confirm: FeedConfirmation) {
  /** By workspace and place. */
  const pages = boundedCache<string, Promise<RecentEvent[]>>({
    bytes: CACHE_BYTES,
    sizeOf: () => READ.maxBytes,
    ttl: CACHE_TTL,
  });
  const keyOf = (workspaceId: number, { position, mark }: FeedPlace) => `${workspaceId} ${position} ${mark}`;

  const load = async (workspaceId: number, followed: Followed, after: FeedPlace): Promise<RecentEvent[]> => {
    await delay(Math.max(0, followed.readAt + PAUSE - performance.now()));
    const work = new RequestWork({ holder: workspaceId, readOnly: true, isClientGone: () => followed.readers === 0 });
    const events = await runForRequest(work, async () => {
      const recent = await reader.read(workspaceId, { ...READ, after });
      await confirm(workspaceId, recent.at(-1) ?? after);
      return recent;
    });
    followed.readAt = events.length < READ.limit ? performance.now() : 0;
    return events;
  };

  /** The events behind a place, read now or for another reader. */
  const behind = async (workspaceId: number, followed: Followed, after: FeedPlace): Promise<RecentEvent[]> => {
    const key = keyOf(workspaceId, after);
    const keptPage = pages.get(key);
    if (keptPage !== undefined) return keptPage;
    const loading = load(workspaceId, followed, after);
    pages.set(key, loading);
    return loading.catch((error: unknown) => {
      pages.delete(key);
      throw error;
    });
  };

  return { behind, forget: (workspaceId: number, after: FeedPlace) => pages.delete(keyOf(workspaceId, after)) };
}

/** Selects what a reader wants of the events that were read, the last of which is `last`. */
function pageOf(
  events: readonly RecentEvent[],
  last: RecentEvent,
  { types, resource, seesRestricted, limit, latest, after, shown = after }: RecentQuery & { latest: FeedPlace },
): RecentPage {
  const visible = events.filter(({ isRestricted }) => seesRestricted || !isRestricted);
  const matching = visible.filter(
    (event) => types.includes(event.type) && (resource === undefined || event.resource === resource),
  );
  const page = matching.slice(0, limit);
  const lastOfPage = matching.length > limit ? page.at(-1) : undefined;
  const hasMore = matching.length > limit || latest.position > last.position;
  return {
    events: page,
    place: placeOf(lastOfPage ?? last),
    shown: placeOf(lastOfPage ?? visible.at(-1) ?? shown),
    hasMore,
  };
}

const placeOf = ({ position, mark }: FeedPlace): FeedPlace => ({ position, mark });

/**
 * Wakes the readers who wait for an event up to this place. If it is before the latest one that is known, or names another
 * event, the database may have lost events: then all look again, and those whose cursor has passed a lost one get 410.
 */
function learn(followed: Followed, latest: FeedPlace): void {
  const isBefore = latest.position < followed.latest.position || isOther(latest, followed.latest);
  if (!isBefore && latest.position === followed.latest.position) return;
  followed.latest = latest;
  for (const waiter of followed.waiting) if (isBefore || waiter.position < latest.position) waiter.wake();
}

/** Whether two events have had the position. */
const isOther = (one: FeedPlace, other: FeedPlace): boolean =>
  one.position === other.position && one.mark !== '' && other.mark !== '' && one.mark !== other.mark;

async function waitBehind(followed: Followed, place: FeedPlace, signal: AbortSignal): Promise<void> {
  const { position } = place;
  if (signal.aborted || followed.latest.position > position || isOther(followed.latest, place)) return;
  followed.latest = place;
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiter = { position, wake: () => resolve() };
  followed.waiting.add(waiter);
  signal.addEventListener('abort', waiter.wake);
  await promise;
  followed.waiting.delete(waiter);
  signal.removeEventListener('abort', waiter.wake);
}

function follow(
  workspaces: Map<number, Followed>,
  workspaceId: number,
  read: (of: { workspaceId: number; followed: Followed }, query: RecentQuery) => Promise<RecentPage | undefined>,
): FeedFollower {
  const followed = workspaces.get(workspaceId) ?? { readers: 0, latest: UNKNOWN, readAt: 0, waiting: new Set() };
  workspaces.set(workspaceId, followed);
  followed.readers += 1;
  let isFollowing = true;
  return {
    isLatest: ({ position, mark }) => followed.latest.position === position && followed.latest.mark === mark,
    read: async (query) => read({ workspaceId, followed }, query),
    waitBehind: async (place, signal) => waitBehind(followed, place, signal),
    leave: () => {
      if (!isFollowing) return;
      isFollowing = false;
      followed.readers -= 1;
      if (followed.readers === 0 && workspaces.get(workspaceId) === followed) workspaces.delete(workspaceId);
    },
  };
}

export function startRecentEvents(options: {
  database: Knex;
  confirm: FeedConfirmation;
  /** Undefined: sessions are shared, so nobody can listen. */
  listenUrl: string | undefined;
  log: Logger;
  /** Called with a workspace that has new events, as far as this process is told. */
  onRecorded?: (workspaceId: number) => void;
  /** Milliseconds; default five seconds. */
  checkInterval?: number | undefined;
}): RecentEvents {
  const { log, listenUrl } = options;
  const reader = recentEventsReader(options.database);
  const pages = sharedPages(reader, options.confirm);
  const workspaces = new Map<number, Followed>();
  const onRecorded = (workspaceId: number, latest: FeedPlace) => {
    options.onRecorded?.(workspaceId);
    const followed = workspaces.get(workspaceId);
    if (followed !== undefined) learn(followed, latest);
  };

  const read = async (
    { workspaceId, followed }: { workspaceId: number; followed: Followed },
    query: RecentQuery,
  ): Promise<RecentPage | undefined> => {
    const { after: place, shown = place } = query;
    const { position } = place;
    const nothing = { events: [], place, shown, hasMore: false };
    if (isOther(followed.latest, place)) return undefined;
    if (followed.latest.position === position) return nothing;
    if (followed.latest.position < position || followed.latest.position > position + RECENT) return undefined;
    let events: RecentEvent[];
    try {
      events = await pages.behind(workspaceId, followed, place);
    } catch (error) {
      log.debug({ err: error, workspace: workspaceId }, 'cannot read new events of the feed');
      // The next look at all workspaces tries again.
      followed.latest = UNKNOWN;
      return nothing;
    }
    const last = events.at(-1);
    // Deleted meanwhile, or lost with a restored database: the reader finds out by reading a page.
    if (last === undefined || events[0]?.position !== position + 1) {
      pages.forget(workspaceId, place);
      followed.latest = UNKNOWN;
      return undefined;
    }
    return pageOf(events, last, { ...query, latest: followed.latest });
  };

  const task = startPeriodicTask({
    name: 'looking for new events of the feed',
    interval: options.checkInterval ?? (listenUrl === undefined ? UNTOLD_CHECK_INTERVAL : CHECK_INTERVAL),
    retryAfter: CHECK_INTERVAL,
    log,
    work: async () => {
      if (workspaces.size === 0) return false;
      for (const { workspaceId, ...latest } of await reader.heads([...workspaces.keys()]))
        onRecorded(workspaceId, latest);
      return false;
    },
  });
  const listener =
    listenUrl === undefined
      ? undefined
      : listenForRecordedEvents({ url: listenUrl, log, onConnect: task.wake, onRecorded });

  return {
    follow: (workspaceId) => follow(workspaces, workspaceId, read),
    stop: async () => {
      await Promise.all([listener?.stop(), task.stop()]);
    },
  };
}
