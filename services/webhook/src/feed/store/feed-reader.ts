import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type FeedPlace, markOf } from '../domain/feed-place.ts';

/** An event of the feed; `body` is the message as it came from the broker. */
export interface FeedEvent extends FeedPlace {
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
  /** Behind the workspace's latest event. */
  head: FeedPlace;
  /** Events up to this position are deleted. */
  swept: number;
  /** The place behind which the events were read. */
  after: FeedPlace;
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
  select feed.head, ${markOf('latest.event_id')} as "headMark", feed.swept, feed.after,
    ${markOf('passed.event_id')} as "afterMark", next.recorded_at as "nextRecordedAt",
    page.position, page.mark, page.type, page.body, page.matches
  from (
    select coalesce(max(position), 0) as head, coalesce(max(swept), 0) as swept,
      case when $4::boolean then greatest($3::bigint, max(swept)) else $3::bigint end as after
    from feed_workspaces where workspace_id = $1
  ) feed
  left join feed_events latest on latest.workspace_id = $1 and latest.position = feed.head
  left join feed_events passed on passed.workspace_id = $1 and passed.position = feed.after
  left join feed_events next on next.workspace_id = $1 and next.position = feed.after + 1
  left join lateral (
    select position, mark, type, body, matches
    from (
      select e.position, ${markOf('e.event_id')} as mark, e.type, e.body, count(*) over () as matches, row_number() over ordered as nth,
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

const FIND_HEAD = `
  select feed.position, ${markOf('latest.event_id')} as mark
  from feed_workspaces feed
  left join feed_events latest on latest.workspace_id = feed.workspace_id and latest.position = feed.position
  where feed.workspace_id = $1`;

type Row = Pick<FeedRead, 'swept' | 'nextRecordedAt'> &
  Pick<FeedEvent, 'mark' | 'type' | 'body'> & {
    head: number;
    headMark: string;
    after: number;
    afterMark: string;
    position: number | null;
    matches: number;
  };

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
      const events = rows.flatMap(({ position, mark, type, body }) =>
        position === null ? [] : [{ position, mark, type, body }],
      );
      const { swept, nextRecordedAt, matches } = first;
      return {
        head: { position: first.head, mark: first.headMark },
        after: { position: first.after, mark: first.afterMark },
        ...{ swept, nextRecordedAt, events },
        hasMore: events.length > 0 && matches > events.length,
      };
    },

    /** The place behind a workspace's latest event. */
    async head(workspaceId: number): Promise<FeedPlace> {
      const [head] = await query<FeedPlace>(db, { name: 'find-feed-head', text: FIND_HEAD, values: [workspaceId] });
      return head ?? { position: 0, mark: '' };
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
      const [row] = await query<{ latest: Instant | null }>(db, {
        name: 'find-time-of-latest-event',
        text: 'select max(recorded_at) as latest from feed_events',
      });
      return row?.latest ?? undefined;
    },
  };
}
