import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** An event of the feed; `body` is the message as it came from the broker. */
export interface FeedEvent {
  position: number;
  type: string;
  body: string;
}

/** Which events of a workspace a reader wants. */
export interface FeedFilter {
  types: readonly string[];
  /** As the API writes it: `incident:12`. */
  resource?: string | undefined;
}

/** What one statement read, so that all of it belongs together. */
export interface FeedRead {
  /** The position of the workspace's latest event; 0 if there is none. */
  head: number;
  /** Events up to this position are deleted. */
  swept: number;
  /** The position behind which the events were read. */
  after: number;
  /** When the event behind the reader's position was recorded, whatever its type; null if there is none. */
  nextRecordedAt: Instant | null;
  events: FeedEvent[];
  /** Whether further events match behind these. */
  hasMore: boolean;
}

export interface FeedRequest extends FeedFilter {
  workspaceId: number;
  /** The position behind which events are read. */
  after: number;
  /** If events behind the position are deleted, those that are left are read. */
  skipsDeleted: boolean;
  limit: number;
  /** The events have at most this many bytes, unless the first alone has more. */
  maxBytes: number;
}

/**
 * Takes the first events of each type from an index that has them in order, and of these the first of all. So a page
 * costs the same wherever its events are, however rare they are. Sizes are known without reading large bodies.
 */
const readStatement = (condition: string) => `
  select feed.head, feed.swept, feed.after, next.recorded_at as "nextRecordedAt", page.position, page.type, page.body, page.matches
  from (
    select coalesce(max(position), 0) as head, coalesce(max(swept), 0) as swept,
      case when $4::boolean then greatest($3::bigint, max(swept)) else $3::bigint end as after
    from feed_workspaces where workspace_id = $1
  ) feed
  left join feed_events next on next.workspace_id = $1 and next.position = feed.after + 1
  left join lateral (
    select position, type, body, matches
    from (
      select e.position, e.type, e.body, count(*) over () as matches, row_number() over ordered as nth,
        sum(octet_length(e.body)) over ordered as bytes
      from (
        select of_type.position
        from unnest($2::text[]) as wanted (type)
        cross join lateral (
          select position from feed_events
          where workspace_id = $1 and type = wanted.type and position > feed.after ${condition}
          order by position limit $5::int + 1
        ) of_type
        order by of_type.position limit $5::int + 1
      ) chosen
      join feed_events e on e.workspace_id = $1 and e.position = chosen.position
      window ordered as (order by e.position)
    ) measured
    where nth <= $5::int and (nth = 1 or bytes <= $6::int)
  ) page on true
  order by page.position`;

const READ = readStatement('');
const READ_RESOURCE = readStatement('and resource = $7');

/** The first event that was recorded at this time or later: found by halving, since times only grow. */
const FIND_POSITION = `
  with recursive search (low, high) as (
    select swept, position + 1 from feed_workspaces where workspace_id = $1
    union all
    select case when e.recorded_at < $2 then e.position else search.low end,
      case when e.recorded_at < $2 then search.high else e.position end
    from search
    join feed_events e on e.workspace_id = $1 and e.position = (search.low + search.high) / 2
    where search.high - search.low > 1
  )
  select max(low) as position from search`;

type Row = Pick<FeedRead, 'head' | 'swept' | 'after' | 'nextRecordedAt'> &
  Pick<FeedEvent, 'type' | 'body'> & { position: number | null; matches: number };

/** Reads the event feed, over a pool or a transaction. */
export function feedReader(db: Knex) {
  return {
    async read(request: FeedRequest): Promise<FeedRead> {
      const { workspaceId, after, skipsDeleted, types, resource, limit, maxBytes } = request;
      const values = [workspaceId, types, after, skipsDeleted, limit, maxBytes];
      const rows =
        resource === undefined
          ? await query<Row>(db, { name: 'read-feed', text: READ, values })
          : await query<Row>(db, { name: 'read-feed-of-resource', text: READ_RESOURCE, values: [...values, resource] });
      const [first] = rows;
      if (first === undefined) throw new Error('the statement always returns a row');
      const events = rows.flatMap(({ position, type, body }) => (position === null ? [] : [{ position, type, body }]));
      const { head, swept, nextRecordedAt, matches } = first;
      const hasMore = events.length > 0 && matches > events.length;
      return { head, swept, after: first.after, nextRecordedAt, events, hasMore };
    },

    /** The position of a workspace's latest event; 0 if there is none. */
    async head(workspaceId: number): Promise<number> {
      const row = await db('feed_workspaces')
        .where({ workspace_id: workspaceId })
        .first<{ position: number } | undefined>('position');
      return row?.position ?? 0;
    },

    /** The position before the first event that was recorded at this time or later. */
    async positionBefore(workspaceId: number, time: Instant): Promise<number> {
      const values = [workspaceId, time];
      const [row] = await query<{ position: number | null }>(db, {
        name: 'find-feed-position',
        text: FIND_POSITION,
        values,
      });
      return row?.position ?? 0;
    },

    /** When the latest event of all workspaces was recorded. */
    async latest(): Promise<Instant | undefined> {
      const row = await db('feed_events').max({ latest: 'recorded_at' }).first();
      return (row?.latest as Instant | null | undefined) ?? undefined;
    },
  };
}
