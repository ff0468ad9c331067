import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from '@tocsin/postgres';
import { type Logger, RequestWork, runForRequest, startPeriodicTask } from '@tocsin/runtime';
import { type FeedTail, feedTail, type TailPage, type TailQuery } from './domain/feed-tail.ts';
import { feedTailReader, listenForRecordedEvents } from './store/feed-tail-reader.ts';

/**
 * The latest events of the workspaces that have waiting readers. One connection listens for new events of all of them;
 * the events of a workspace are read once, for all of its readers (ADR 32).
 */
export interface FeedTails {
  /** Keeps the tail of a workspace until `leave`. To be called before the reader reads its first page. */
  follow(workspaceId: number): FeedFollower;
  stop(): Promise<void>;
}

/** A waiting reader's view of its workspace's tail. */
export interface FeedFollower {
  /** Reads from the tail; `undefined` if the tail does not have everything behind the position: read a page instead. */
  read(query: TailQuery): TailPage | undefined;
  /** Resolves when there are events behind a position, whatever their types, and when the signal is aborted. */
  waitBehind(position: number, signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** The sizes of tails are in characters. */
const TAIL = { maxEvents: 256, maxSize: 1_048_576 };
const MAX_SIZE_OF_ALL = 33_554_432;
const READ = { limit: 100, maxBytes: 524_288 };
/** Milliseconds between two reads of one tail, so that many small batches are read together. */
const PAUSE = 50;
/** Milliseconds between two looks at all tails, in case a notification is lost; one statement for all of them. */
const CHECK_INTERVAL = 5_000;

/** A workspace with waiting readers. */
interface Followed {
  readers: number;
  /** Begins where the first reader waits. */
  tail: FeedTail | undefined;
  /** The latest position that is known. */
  latest: number;
  isReading: boolean;
  waiting: Set<{ position: number; wake: () => void }>;
}

export function startFeedTails(options: {
  database: Knex;
  url: string;
  log: Logger;
  /** Milliseconds; default five seconds. */
  checkInterval?: number | undefined;
}): FeedTails {
  const { log } = options;
  const reader = feedTailReader(options.database);
  /** By the time of the last read, the oldest first. */
  const workspaces = new Map<number, Followed>();
  let isStopped = false;

  const wake = (followed: Followed) => {
    for (const waiter of followed.waiting) {
      if (followed.tail === undefined || followed.tail.head > waiter.position) waiter.wake();
    }
  };

  const boundSize = () => {
    let size = 0;
    for (const { tail } of workspaces.values()) size += tail?.size ?? 0;
    for (const { tail } of workspaces.values()) {
      if (size <= MAX_SIZE_OF_ALL) return;
      size -= tail?.size ?? 0;
      tail?.drop();
    }
  };

  const readOnce = async (workspaceId: number, followed: Followed, tail: FeedTail): Promise<void> => {
    const work = new RequestWork({ holder: workspaceId, readOnly: true, isClientGone: () => followed.readers === 0 });
    const events = await runForRequest(work, async () => reader.read(workspaceId, { ...READ, after: tail.head }));
    if (events[0]?.position === tail.head + 1) tail.append(events);
    else {
      // Deleted meanwhile, or lost with a restored database: the readers find out by reading pages.
      followed.tail = undefined;
      followed.latest = 0;
    }
    if (workspaces.get(workspaceId) === followed) {
      workspaces.delete(workspaceId);
      workspaces.set(workspaceId, followed);
    }
    boundSize();
    wake(followed);
  };

  const readNew = async (workspaceId: number, followed: Followed): Promise<void> => {
    if (followed.isReading) return;
    followed.isReading = true;
    try {
      for (;;) {
        const { tail, latest, readers } = followed;
        if (isStopped || readers === 0 || tail === undefined || latest <= tail.head) return;
        await readOnce(workspaceId, followed, tail);
        await delay(PAUSE);
      }
    } catch (error) {
      // The next look at all tails tries again.
      log.debug({ err: error, workspace: workspaceId }, 'cannot read new events of the feed');
    } finally {
      followed.isReading = false;
    }
  };

  const onRecorded = (workspaceId: number, position: number) => {
    const followed = workspaces.get(workspaceId);
    if (followed === undefined) return;
    followed.latest = Math.max(followed.latest, position);
    void readNew(workspaceId, followed);
  };

  const task = startPeriodicTask({
    name: 'looking for new events of the feed',
    interval: options.checkInterval ?? CHECK_INTERVAL,
    log,
    work: async () => {
      if (workspaces.size === 0) return false;
      for (const { workspaceId, position } of await reader.heads([...workspaces.keys()])) {
        onRecorded(workspaceId, position);
      }
      return false;
    },
  });
  const listener = listenForRecordedEvents({ url: options.url, log, onConnect: task.wake, onRecorded });

  const waitBehind = async (
    { workspaceId, followed }: { workspaceId: number; followed: Followed },
    position: number,
    signal: AbortSignal,
  ): Promise<void> => {
    followed.tail ??= feedTail(position, TAIL);
    if (signal.aborted || followed.tail.head > position) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { position, wake: () => resolve() };
    followed.waiting.add(waiter);
    signal.addEventListener('abort', waiter.wake);
    void readNew(workspaceId, followed);
    await promise;
    followed.waiting.delete(waiter);
    signal.removeEventListener('abort', waiter.wake);
  };

  return {
    follow: (workspaceId) => {
      const followed = workspaces.get(workspaceId) ?? newFollowed();
      workspaces.set(workspaceId, followed);
      followed.readers += 1;
      let isFollowing = true;
      return {
        read: (query) => followed.tail?.read(query),
        waitBehind: async (position, signal) => waitBehind({ workspaceId, followed }, position, signal),
        leave: () => {
          if (!isFollowing) return;
          isFollowing = false;
          followed.readers -= 1;
          if (followed.readers === 0 && workspaces.get(workspaceId) === followed) workspaces.delete(workspaceId);
        },
      };
    },
    stop: async () => {
      isStopped = true;
      await Promise.all([listener.stop(), task.stop()]);
    },
  };
}

const newFollowed = (): Followed => ({
  readers: 0,
  tail: undefined,
  latest: 0,
  isReading: false,
  waiting: new Set(),
});
