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
  /** Whether the reader may know of events about restricted incidents. */
  seesRestricted: boolean;
}

/** The end of a workspace's feed. */
export interface FeedEnd {
  /** Behind the latest event. */
  head: FeedPlace;
  /** Behind the latest event that the reader may know of. */
  shownHead: FeedPlace;
}

/** What one statement read, so that all of it belongs together. */
export interface FeedRead extends FeedEnd {
  /** Events up to this position are deleted, of those that the reader may know of. */
  swept: number;
  /** The place behind which the events were read. */
  after: FeedPlace;
  /** When the first of the events was recorded; null if there is none. */
  firstRecordedAt: Instant | null;
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
  select feed.head, ${markOf('latest.event_id')} as "headMark", feed.shown, ${markOf('shown.event_id')} as "shownMark",
    feed.swept, feed.after, ${markOf('passed.event_id')} as "afterMark",
    page.position, page.mark, page.type, page.body, page.recorded_at as "recordedAt", page.matches
  from (
    select coalesce(max(position), 0) as head,
      coalesce(max(case when $7::boolean then position else unrestricted_position end), 0) as shown,
      coalesce(max(case when $7::boolean then swept else unrestricted_swept end), 0) as swept,
      case when $4::boolean then greatest($3::bigint, max(swept)) else $3::bigint end as after
    from feed_workspaces where workspace_id = $1
  ) feed
  left join feed_events latest on latest.workspace_id = $1 and latest.position = feed.head
  left join feed_events shown on shown.workspace_id = $1 and shown.position = feed.shown
  left join feed_events passed on passed.workspace_id = $1 and passed.position = feed.after
  left join lateral (
    select position, mark, type, body, recorded_at, matches
    from (
      select e.position, ${markOf('e.event_id')} as mark, e.type, e.body, e.recorded_at, count(*) over () as matches, row_number() over ordered as nth,
        sum(octet_length(e.body)) over ordered as bytes
      from (
        select of_type.position
        from unnest($2::text[], $8::boolean[]) as wanted (type, restricted)
        cross join lateral (
          select position from feed_events
          where workspace_id = $1 and restricted = wanted.restricted and type = wanted.type and position > feed.after ${condition}
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
const READ_RESOURCE = readStatement('and resource = $9');

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
  select feed.position as head, ${markOf('latest.event_id')} as "headMark", feed.shown, ${markOf('shown.event_id')} as "shownMark"
  from (
    select position, case when $2::boolean then position else unrestricted_position end as shown
    from feed_workspaces where workspace_id = $1
  ) feed
  left join feed_events latest on latest.workspace_id = $1 and latest.position = feed.position
  left join feed_events shown on shown.workspace_id = $1 and shown.position = feed.shown`;

interface EndRow {
  head: number;
  headMark: string;
  shown: number;
  shownMark: string;
}

const endOf = ({ head, headMark, shown, shownMark }: EndRow): FeedEnd => ({
  head: { position: head, mark: headMark },
  shownHead: { position: shown, mark: shownMark },
});

type Row = EndRow &
  Pick<FeedRead, 'swept'> &
  Pick<FeedEvent, 'mark' | 'type' | 'body'> & {
    recordedAt: Instant | null;
    after: number;
    afterMark: string;
    position: number | null;
    matches: number;
  };

/** Reads the event feed, over a pool or a transaction. */
export function feedReader(db: Knex) {
  return {
    async read(request: FeedRequest): Promise<FeedRead> {
      const { workspaceId, after, skipsDeleted, types, resource, seesRestricted, limit, maxBytes } = request;
      // One look-up for each type, and another one for its restricted events.
      const wanted = (seesRestricted ? [false, true] : [false]).flatMap((isRestricted) =>
        types.map((type) => ({ type, isRestricted })),
      );
      const wantedTypes = wanted.map(({ type }) => type);
      const isRestricted = wanted.map((each) => each.isRestricted);
      const values = [workspaceId, wantedTypes, after, skipsDeleted, limit, maxBytes, seesRestricted, isRestricted];
      const rows =
        resource === undefined
          ? await query<Row>(db, { name: 'read-feed', text: READ, values })
          : await query<Row>(db, { name: 'read-feed-of-resource', text: READ_RESOURCE, values: [...values, resource] });
      const [first] = rows;
      if (first === undefined) throw new Error('the statement always returns a row');
      const events = rows.flatMap(({ position, mark, type, body }) =>
        position === null ? [] : [{ position, mark, type, body }],
      );
      const { swept, recordedAt: firstRecordedAt, matches } = first;
      return {
        ...endOf(first),
        after: { position: first.after, mark: first.afterMark },
        ...{ swept, firstRecordedAt, events },
        hasMore: events.length > 0 && matches > events.length,
      };
    },

    async end(workspaceId: number, seesRestricted: boolean): Promise<FeedEnd> {
      const values = [workspaceId, seesRestricted];
      const [end] = await query<EndRow>(db, { name: 'find-feed-head', text: FIND_HEAD, values });
      return endOf(end ?? { head: 0, headMark: '', shown: 0, shownMark: '' });
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
