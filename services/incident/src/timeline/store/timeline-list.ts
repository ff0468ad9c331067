import { invalidRequest, throttleByWorkspace, MAX_PAGE_BYTES } from '@tocsin/http';
import { type Listed, type ListedRow, readWhole } from '@tocsin/resources';
import { type Knex, namesFirst, type PreparedStatement, runTogether } from '@tocsin/postgres';
import { boundedCache, type Instant, estimateHeapBytes } from '@tocsin/runtime';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';
import { type Attachment, selectAttachments, toAttachment } from './attachment-store.ts';
import { MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import { all, run, type Sql, sql, statementOf } from '../../shared/store/sql.ts';
import { propertyConditions, textConditions, timeConditions } from './timeline-conditions.ts';
import {
  LISTED_TIMELINE_COLUMNS,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toListedEvent,
  toTimelineEvent,
} from './timeline-row.ts';

/** How many types, sources and tags are counted, the most frequent first (contract: Limits). */
const MAX_COUNTED = 1_000;
/** A timeline with more events is counted and searched when it is the workspace's turn, and the counts of tags are kept. */
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

export interface TimelineQuery {
  workspaceId: number;
  incidentId: number;
  filters: TimelineFilters;
  limit: number;
  /** The position after which the page begins, in the requested order. */
  after: TimelinePosition | undefined;
}

/** Reads the timelines of incidents. */
export function timelineReader(database: Knex) {
  /** By incident, revision and time bounds. Every change of a timeline raises the revision of its incident. */
  const kept = boundedCache<string, readonly Count[]>({ bytes: KEPT_BYTES, sizeOf: estimateHeapBytes });

  /** Returns undefined if there is too much to read for a request whose turn it is not. */
  const read = async (trx: Knex.Transaction, query: TimelineQuery, isTurn: boolean) => {
    const { incidentId, filters } = query;
    const { lastEventAt, eventCount, revision } = await incidentStore(trx, query.workspaceId).get(incidentId);
    const key = JSON.stringify([incidentId, revision, filters.startedFrom, filters.startedTo]);
    const keptTags = kept.get(key);
    const hasMany = eventCount > MANY_EVENTS;
    const isExpensive = keptTags === undefined || filters.tags.length > 0 || filters.text !== null;
    if (hasMany && isExpensive && !isTurn) return undefined;
    const bounds = all([sql`incident_id = ${incidentId}`, ...timeConditions(filters)]);
    if (filters.text !== null) await checkComparedText(trx, filters, bounds);
    const [counted, countedTags = []] = await runTogether(trx, [
      matchAndCount(query, bounds),
      ...(keptTags === undefined ? [countTags(bounds)] : []),
    ]);
    const tags = keptTags ?? countedTags;
    if (hasMany) kept.set(key, tags);
    const { ids, counts } = idsAndCounts(counted);
    const { listed, attachments } = await readListed(trx, ids);
    const events = await readEvents(trx, listed);
    return {
      listed,
      events,
      counts: { ...counts, tags: byKey(tags) },
      // Of some events that the page may not show, too.
      attachments,
      latestStartedAt: lastEventAt,
    };
  };

  /**
   * Returns a page of an incident's timeline and its counts, from one snapshot so that they agree. Of the listed events,
   * it reads as many completely as a page can show.
   * @throws DomainError `not_found`; `invalid_request` if a search would compare too much text
   */
  return async (query: TimelineQuery): Promise<NonNullable<Awaited<ReturnType<typeof read>>>> => {
    const readNow = async (isTurn: boolean) =>
      database.transaction(async (trx) => read(trx, query, isTurn), {
        isolationLevel: 'repeatable read',
        readOnly: true,
      });
    const page = (await readNow(false)) ?? (await throttleByWorkspace(query.workspaceId, async () => readNow(true)));
    if (page === undefined) throw new Error('a turn has not counted');
    return page;
  };
}

/**
 * Every event that meets the other filters is searched, on each page: `matched_count` counts them all. The sizes of large
 * texts can be told without reading the texts.
 */
async function checkComparedText(trx: Knex.Transaction, filters: TimelineFilters, bounds: Sql): Promise<void> {
  const [row] = await run<{ bytes: number | null }>(
    trx,
    sql`
      select sum(octet_length(title) + octet_length(body) + octet_length(ai_context)
        + octet_length(array_to_string(tags, ' '))) as bytes
      from timeline_events
      where ${all([bounds, ...propertyConditions(filters)])}`,
  );
  if ((row?.bytes ?? 0) <= MAX_COMPARED_BYTES) return;
  throw invalidRequest(
    'q',
    'Must be combined with other filters, such as started_from and started_to, that select events with at most 32 MiB of text',
  );
}

interface Count {
  key: string;
  events: number;
}

/** A count; the row of all events has the IDs of the page, too. */
interface CountRow extends Count {
  by: 'type' | 'source' | 'all';
  matched: number;
  ids: string[] | null;
}

const named = namesFirst('timeline');

/** The IDs of the events of the page, in its order, and all counts except those of tags. Searches each event once. */
function matchAndCount(
  { workspaceId, filters, limit, after }: TimelineQuery,
  bounds: Sql,
): PreparedStatement<CountRow> {
  const { direction, follows } =
    filters.order === 'asc' ? { direction: sql`asc`, follows: sql`>` } : { direction: sql`desc`, follows: sql`<` };
  const order = sql`started_at ${direction}, id ${direction}`;
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(started_at, id) ${follows} (${after.startedAt}::timestamptz, ${after.id}::bigint)`;
  return statementOf(
    named,
    sql`
      with event as materialized (
        select id, started_at, type, source,
          ${all([...propertyConditions(filters), ...textConditions(filters, workspaceId)])} as matches
        from timeline_events
        where ${bounds}),
      page as (select id, started_at from event where matches and ${isAfter} order by ${order} limit ${limit}),
      counts as (
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
        from counts)
      select by, key, events, matched,
        case by when 'all' then (select array_agg(id::text order by ${order}) from page) end as ids
      from ranked
      where rank <= ${MAX_COUNTED}`,
  );
}

function idsAndCounts(rows: readonly CountRow[]): { ids: number[]; counts: Omit<TimelineCounts, 'tags'> } {
  const total = rows.find(({ by }) => by === 'all');
  return {
    ids: (total?.ids ?? []).map(Number),
    counts: {
      allEvents: total?.events ?? 0,
      types: byKey(rows.filter(({ by }) => by === 'type')),
      sources: byKey(rows.filter(({ by }) => by === 'source')),
      matched: total?.matched ?? 0,
    },
  };
}

const countTags = (bounds: Sql): PreparedStatement<Count> =>
  statementOf(
    named,
    sql`
      select tag as key, count(*) as events
      from timeline_events cross join unnest(tags) as tag
      where ${bounds}
      group by tag
      order by events desc, tag collate "C"
      limit ${MAX_COUNTED}`,
  );

/** Not by assignment, because a type may be `__proto__`. */
const byKey = (counts: readonly Count[]): Record<string, number> =>
  Object.fromEntries(counts.map(({ key, events }) => [key, events]));

const selectListed = (ids: readonly number[]): PreparedStatement<ListedRow<TimelineRow>> => ({
  name: 'list-timeline-events',
  text: `select ${LISTED_TIMELINE_COLUMNS} from timeline_events where id = any($1::bigint[])`,
  values: [ids],
});

/** The events with these IDs, in the order of the IDs, and their attachments. */
async function readListed(
  trx: Knex.Transaction,
  ids: readonly number[],
): Promise<{ listed: Listed<TimelineEvent>[]; attachments: Attachment[] }> {
  if (ids.length === 0) return { listed: [], attachments: [] };
  const [rows, attachments] = await runTogether(trx, [selectListed(ids), selectAttachments(ids)]);
  const byId = new Map(rows.map((row) => [row.id, toListedEvent(row)]));
  return { listed: ids.flatMap((id) => byId.get(id) ?? []), attachments: attachments.map(toAttachment) };
}

/** JSON is never shorter than the text in it, so no page needs more of these texts. */
async function readEvents(trx: Knex, listed: readonly Listed<TimelineEvent>[]): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  let bytes = 0;
  const whole = readWhole(listed, async (ids) => {
    const rows = await trx('timeline_events').whereIn('id', ids).select<TimelineRow[]>(TIMELINE_COLUMNS);
    return rows.map(toTimelineEvent);
  });
  for await (const event of whole) {
    if (event === undefined) throw new Error('a snapshot lost an event');
    events.push(event);
    bytes += Buffer.byteLength(event.body);
    if (bytes > MAX_PAGE_BYTES) break;
  }
  return events;
}
