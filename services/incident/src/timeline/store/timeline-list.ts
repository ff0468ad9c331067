import { invalidRequest, notFound, throttleByWorkspace } from '@tocsin/http';
import { type Listed, readWhole } from '@tocsin/versioned-resources';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import { boundedCache, type Instant, estimateHeapBytes } from '@tocsin/runtime';
import { type TimelineEvent, SUGGESTION } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';
import { type Attachment, selectAttachments } from './attachment-store.ts';
import { MAX_COMPARED_BYTES, containsText } from '../../shared/store/contains-text.ts';
import { all, Sql, sql, statementOf } from '../../shared/store/sql.ts';
import { isVisible } from '../../visibility/store/visible.ts';
import { noteRead } from '../../visibility/store/viewer.ts';
import { LISTED_TIMELINE_COLUMNS, TIMELINE_SELECTION } from './timeline-row.ts';

/** How many types, sources and tags are counted, the most frequent first (contract: Timeline). */
const MAX_COUNTED = 1_000;
/** A timeline with more events is counted and searched when it is the workspace's turn. */
const MANY_EVENTS = 1_000;
const KEPT_BYTES = 4 * 1_048_576;

/** The counts beside a page of a timeline. */
export interface TimelineCounts {
  /** Events within the time bounds, regardless of other filters. */
  allEvents: number;
  types: Record<string, number>;
  sources: Record<string, number>;
  tags: Record<string, number>;
  /** Events that match all filters. */
  matched: number;
}

/** A position in the order of timelines. */
export interface TimelinePosition {
  startedAt: Instant;
  id: number;
}

interface TimelineQuery {
  workspaceId: number;
  incidentId: number;
  filters: TimelineFilters;
  limit: number;
  /** The position after which the page begins, in the requested order. */
  after: TimelinePosition | undefined;
}

/** A page of an incident's timeline. */
interface TimelinePage {
  /** Up to `limit` events. */
  listed: Listed<TimelineEvent>[];
  /** Of the listed events. */
  attachments: Attachment[];
  counts: TimelineCounts;
  latestStartedAt: Instant | null;
}

/** The counts at a revision of the incident; every change of its timeline raises it. */
interface KeptCounts {
  revision: number;
  counts: TimelineCounts;
}

/** Reads the timelines of incidents. */
export function timelineReader(database: Knex) {
  /** By incident and filters. */
  const kept = boundedCache<string, KeptCounts>({ bytes: KEPT_BYTES, sizeOf: estimateHeapBytes });

  const pageOf = async (
    { workspaceId, incidentId }: TimelineQuery,
    rows: readonly PageRow[],
    counts: TimelineCounts,
  ): Promise<TimelinePage> => {
    noteRead(rows.slice(0, 1).map(({ restricted }) => ({ id: incidentId, restricted })));
    const listed = rows.filter((row): row is PageRow & Listed<TimelineEvent> => row.id !== null);
    return {
      listed,
      attachments: await readAttachments(
        workspaceId,
        listed.filter(({ hasAttachments }) => hasAttachments).map(({ id }) => id),
      ),
      counts,
      latestStartedAt: rows[0]?.lastEventAt ?? null,
    };
  };

  /** Returns undefined if the counts are not kept, or of another revision. */
  const readCounted = async (list: TimelineQuery, key: string): Promise<TimelinePage | undefined> => {
    const keptCounts = kept.get(key);
    if (keptCounts === undefined) return undefined;
    const rows = await query(database, selectCountedPage(list, keptCounts.revision));
    if (rows[0]?.incidentRevision !== keptCounts.revision) return undefined;
    return pageOf(list, rows, keptCounts.counts);
  };

  /** Returns undefined if there is too much to read for a request whose turn it is not. */
  const read = async (list: TimelineQuery, key: string, isTurn: boolean): Promise<TimelinePage | undefined> => {
    const rows = await query(database, selectPage(list, isTurn));
    const [first] = rows;
    if (first === undefined) throw notFound('The incident');
    const { hasTurn, isSearchable, counts, incidentRevision } = first;
    if (!hasTurn) return undefined;
    if (!isSearchable) throw tooMuchText();
    if (counts === null) throw new Error('a timeline was not counted');
    if (!isSearch(list)) kept.set(key, { revision: incidentRevision, counts });
    return pageOf(list, rows, counts);
  };

  const readAttachments = async (workspaceId: number, eventIds: readonly number[]): Promise<Attachment[]> => {
    if (eventIds.length === 0) return [];
    const attachments = await query(database, selectAttachments(workspaceId, eventIds));
    return attachments;
  };

  return {
    /**
     * Returns a page of an incident's timeline and its counts, from one snapshot so that they agree.
     * @throws DomainError `not_found`; `invalid_request` if a search would compare too much text
     */
    page: async (list: TimelineQuery): Promise<TimelinePage> => {
      const key = JSON.stringify([list.incidentId, list.filters]);
      const page =
        (await readCounted(list, key)) ??
        (await read(list, key, false)) ??
        (await throttleByWorkspace(list.workspaceId, async () => read(list, key, true)));
      if (page === undefined) throw new Error('a turn has not counted');
      return page;
    },

    /** The listed events with all their properties, a few at a time. */
    readWhole: (workspaceId: number, listed: readonly Listed<TimelineEvent>[]) =>
      readWhole(listed, async (ids) =>
        query<TimelineEvent>(database, {
          name: 'find-timeline-events',
          text: `select ${TIMELINE_SELECTION} from timeline_events
            where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
          values: [workspaceId, ids],
        }),
      ),
  };
}

/** `q` is searched in every event that meets the other filters, on each page: `matched_count` counts them all. */
const tooMuchText = () =>
  invalidRequest(
    'q',
    'Must be combined with other filters, such as started_from and started_to, that select events with at most 32 MiB of text',
  );

/** Compares tags or texts of all events, also when they are counted. */
const isSearch = ({ filters }: TimelineQuery) => filters.tags.length > 0 || filters.text !== null;

/** An event of the page with what is known about its timeline; without an event if the page is empty. */
type PageRow = { [Property in keyof Listed<TimelineEvent>]: Listed<TimelineEvent>[Property] | null } & {
  hasAttachments: boolean;
  incidentRevision: number;
  restricted: boolean;
  lastEventAt: Instant | null;
};

type CountedPageRow = PageRow & {
  /** Otherwise nothing was counted and no event was read. */
  hasTurn: boolean;
  /** Likewise: there is not too much text to search. */
  isSearchable: boolean;
  /** In the first row. */
  counts: TimelineCounts | null;
};

const LISTED = new Sql(LISTED_TIMELINE_COLUMNS, []);

const ofIncident = ({ workspaceId, incidentId }: TimelineQuery): Sql[] => [
  sql`workspace_id = ${workspaceId}`,
  sql`incident_id = ${incidentId}`,
];

/** The order of the events, and the condition that they come after a position. */
function orderOf({ filters, after }: TimelineQuery): { order: Sql; isAfter: Sql } {
  const { direction, follows } =
    filters.order === 'asc' ? { direction: sql`asc`, follows: sql`>` } : { direction: sql`desc`, follows: sql`<` };
  return {
    order: sql`started_at ${direction}, id ${direction}`,
    isAfter:
      after === undefined
        ? sql`true`
        : sql`(started_at, id) ${follows} (${after.startedAt}::timestamptz, ${after.id}::bigint)`,
  };
}

const HAS_ATTACHMENTS = sql`exists (
  select 1 from timeline_attachments
  where workspace_id = timeline_events.workspace_id and timeline_event_id = timeline_events.id) as "hasAttachments"`;

/** A page whose counts are known at a revision of the incident. Has no events if the incident has another one. */
function selectCountedPage(list: TimelineQuery, revision: number): Statement<PageRow> {
  const { workspaceId, incidentId, filters, limit } = list;
  const { order, isAfter } = orderOf(list);
  const conditions = all([...ofIncident(list), ...timeConditions(filters), ...propertyConditions(filters), isAfter]);
  return statementOf(
    sql`
      select ${LISTED}, ${HAS_ATTACHMENTS}, i.revision as "incidentRevision", i.restricted, last_event_at as "lastEventAt"
      from incidents as i
      left join lateral (select id from timeline_events where ${conditions} order by ${order} limit ${limit}) as page
        on i.revision = ${revision}
      left join timeline_events on timeline_events.workspace_id = ${workspaceId} and timeline_events.id = page.id
      where i.workspace_id = ${workspaceId} and i.id = ${incidentId} and ${isVisible()}
      order by ${order}`,
    'counted-timeline',
  );
}

/** One statement, so that the page and the counts are of the same moment. Each event is searched once. */
function selectPage(list: TimelineQuery, isTurn: boolean): Statement<CountedPageRow> {
  const { workspaceId, incidentId, filters, limit } = list;
  const { order, isAfter } = orderOf(list);
  const bounds = all([...ofIncident(list), ...timeConditions(filters)]);
  const properties = propertyConditions(filters);
  // The sizes of large texts are known without reading the texts.
  const textBytes =
    filters.text === null
      ? sql`0`
      : sql`(
          select coalesce(sum(octet_length(title) + octet_length(body) + octet_length(ai_context)
            + octet_length(array_to_string(tags, ' '))), 0)
          from timeline_events where ${all([bounds, ...properties])})`;
  return statementOf(
    sql`
      with incident as materialized (
        select revision, restricted, last_event_at, event_count <= ${MANY_EVENTS} or ${isTurn}::boolean as has_turn
        from incidents as i where workspace_id = ${workspaceId} and id = ${incidentId} and ${isVisible()}),
      timeline as materialized (
        select revision, restricted, last_event_at, has_turn, has_turn and is_searchable as is_read, is_searchable
        from incident
        cross join lateral (
          select case when has_turn then ${textBytes} else 0 end <= ${MAX_COMPARED_BYTES} as is_searchable) as search),
      event as materialized (
        select id, started_at, type, source,
          ${all([...properties, ...textConditions(filters, workspaceId)])} as matches
        from timeline_events
        where ${bounds} and (select is_read from timeline)),
      page as (
        select id, row_number() over (order by ${order}) as place
        from event where matches and ${isAfter} order by place limit ${limit}),
      counted as (
        select
          case grouping(type, source) when 1 then 'type' when 2 then 'source' else 'all' end as by,
          coalesce(type, source, '') as key,
          count(*) as events,
          count(*) filter (where matches) as matched
        from event
        group by grouping sets ((), (type), (source))),
      ranked as (
        select by, key, events, matched,
          row_number() over (partition by by order by events desc, key collate "C") as rank
        from counted
        union all
        select 'tag', tag, count(*), 0, row_number() over (order by count(*) desc, tag collate "C")
        from timeline_events cross join unnest(tags) as tag
        where ${bounds} and (select is_read from timeline)
        group by tag),
      counts as (
        select json_build_object(
          'allEvents', max(events) filter (where by = 'all'),
          'matched', max(matched) filter (where by = 'all'),
          'types', coalesce(json_object_agg(key, events order by rank) filter (where by = 'type'), '{}'),
          'sources', coalesce(json_object_agg(key, events order by rank) filter (where by = 'source'), '{}'),
          'tags', coalesce(json_object_agg(key, events order by rank) filter (where by = 'tag'), '{}')) as counts
        from ranked where rank <= ${MAX_COUNTED})
      select ${LISTED}, ${HAS_ATTACHMENTS},
        timeline.has_turn as "hasTurn", timeline.is_searchable as "isSearchable",
        timeline.revision as "incidentRevision", timeline.restricted, timeline.last_event_at as "lastEventAt",
        case when timeline.is_read and coalesce(page.place, 1) = 1 then (select counts from counts) end as counts
      from timeline
      left join page on true
      left join timeline_events on timeline_events.workspace_id = ${workspaceId} and timeline_events.id = page.id
      order by page.place`,
    'timeline',
  );
}

/** The filters by time, as conditions on events. */
const timeConditions = ({ startedFrom, startedTo }: TimelineFilters): Sql[] => [
  ...(startedFrom === null ? [] : [sql`started_at >= ${startedFrom}`]),
  ...(startedTo === null ? [] : [sql`started_at < ${startedTo}`]),
];

/** All filters except those by time and by text. */
function propertyConditions(filters: TimelineFilters): Sql[] {
  const { typeOrSource, tags, keyOnly, groups, ungrouped, suggestions } = filters;
  return [
    ...(typeOrSource === null ? [] : [hasTypeOrSource(typeOrSource)]),
    ...(tags.length === 0 ? [] : [sql`tags_folded && ${tags}::text[]`]),
    ...(keyOnly ? [sql`is_key`] : []),
    ...(groups.length === 0 && !ungrouped ? [] : [inGroups(groups, ungrouped)]),
    ...(suggestions === 'include'
      ? []
      : [suggestions === 'only' ? sql`type_folded = ${SUGGESTION}` : sql`type_folded <> ${SUGGESTION}`]),
  ];
}

const inGroups = (groups: readonly number[], ungrouped: boolean): Sql =>
  ungrouped
    ? sql`(group_id = any(${groups}::bigint[]) or group_id is null)`
    : sql`(group_id = any(${groups}::bigint[]))`;

function hasTypeOrSource(value: string): Sql {
  if (value !== 'ai') return sql`(type_folded = ${value} or source_folded = ${value})`;
  return sql`(source_folded in ('ai', 'ai_investigation', 'investigation')
    or (type_folded = 'investigation' and source_folded = 'manual'))`;
}

/** The filter by text. It comes last, so that only events that meet all other filters are searched. */
const textConditions = ({ text }: TimelineFilters, workspaceId: number): Sql[] =>
  text === null
    ? []
    : [
        sql`(
          coalesce(group_id in (
            select id from timeline_groups
            where workspace_id = ${workspaceId} and ${containsText(sql`name_folded`, text)}), false)
          or exists (select 1 from unnest(texts_folded) as part where ${containsText(sql`part`, text)}))`,
      ];
