/** An event at the end of a workspace's feed. */
export interface TailEvent {
  position: number;
  type: string;
  /** What the event is about, as the API writes it: `incident:12`. */
  resource: string;
  body: string;
}

/** Which events a reader wants, and behind which position. */
export interface TailQuery {
  after: number;
  types: readonly string[];
  resource?: string | undefined;
  limit: number;
}

/** Events that a reader gets, as of a page of the feed. */
export interface TailPage {
  events: readonly TailEvent[];
  /** Everything up to this position is read or was skipped. */
  position: number;
  hasMore: boolean;
}

/**
 * The latest events of one workspace in memory, in their order and without gaps, for readers who have read all events
 * before them.
 */
export interface FeedTail {
  /** The position of the latest event. */
  readonly head: number;
  /** Characters of the bodies. */
  readonly size: number;
  /** Adds the events that follow. The oldest ones give way, as far as the tail would be too large. */
  append(events: readonly TailEvent[]): void;
  /** Forgets the events, but not their position. */
  drop(): void;
  /** Returns `undefined` if the tail does not have all events behind the position. */
  read(query: TailQuery): TailPage | undefined;
}

/** @param head the position behind which the tail begins */
export function feedTail(head: number, { maxEvents, maxSize }: { maxEvents: number; maxSize: number }): FeedTail {
  let start = head;
  let size = 0;
  const events: TailEvent[] = [];
  const shorten = () => {
    while (events.length > maxEvents || size > maxSize) {
      size -= events.shift()?.body.length ?? 0;
      start += 1;
    }
  };
  const tail: FeedTail = {
    get head() {
      return start + events.length;
    },
    get size() {
      return size;
    },
    append: (added) => {
      for (const event of added) {
        if (event.position !== tail.head + 1) throw new Error('positions of a feed have no gaps');
        events.push(event);
        size += event.body.length;
      }
      shorten();
    },
    drop: () => {
      start = tail.head;
      size = 0;
      events.length = 0;
    },
    read: ({ after, types, resource, limit }) => {
      if (after < start || after > tail.head) return undefined;
      const matching = events
        .slice(after - start)
        .filter((event) => types.includes(event.type) && (resource === undefined || event.resource === resource));
      const page = matching.slice(0, limit);
      const hasMore = matching.length > limit;
      return { events: page, hasMore, position: hasMore ? (page.at(-1)?.position ?? after) : tail.head };
    },
  };
  return tail;
}
