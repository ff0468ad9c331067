import type { Listed } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import type { IncidentVersion } from '../../incidents/store/incident-row.ts';
import { customLookups } from './custom-filters.ts';
import { filterConditions, hasConditions, isSelective, statusConditions, hasOwnText, ownTextBytes } from './filters.ts';
import {
  COLUMNS,
  positionColumns,
  type PositionedRow,
  positionOf,
  type KeysetPosition,
  type SegmentRequest,
  type SortSegment,
  versionOf,
} from './segments.ts';
import type { IncidentQuery } from './query.ts';
import { isTextSearch, type PrefilteredQuery, prefilterByValues } from './prefilter.ts';
import { all, type Sql, sql, join, statementOf } from '../../shared/store/sql.ts';

/**
 * Reads one page of a list of incidents. A list sorts by any of a dozen properties or by a custom field, under any
 * filters, and a page must take about a millisecond in a workspace with hundreds of thousands of incidents, however
 * deep it is. So no statement may sort the whole list, skip rows by `offset`, or filter after sorting
 * (ADR 12).
 *
 * Sort segments: a sort order is cut into segments, each of which one statement reads from one index, in the order of
 * that index (`sort-segments.ts`). `sort=owner`, for example, has two: the incidents with an owner, by name, and then
 * those without one. A single statement for both would need an expression as its order, and every sort an index on
 * its own such expression. A page reads segment after segment until it is full. Its position is a keyset: the name of
 * the segment, the sort keys of the last row, and a tie-breaker. The next page continues right behind it with a row
 * comparison.
 *
 * Key look-ups: some orders are unknown to Postgres, like the workflow order of statuses or the order of a select's
 * options. Such a segment looks up one key after the other in the index, in our order, for up to a page of incidents
 * each. There are few keys, so this is still far less than sorting.
 *
 * Filters: most are plain conditions on `incidents`. Filters by custom fields look up one value of the incident at hand, and
 * Postgres cannot estimate how many incidents they let through, because the values of all fields share their columns. So
 * the first 1,000 incidents in list order are checked one by one, which fills a page if the filter is common.
 *
 * Prefilter: only if it does not, indexes are asked for the IDs of the incidents that meet a filter or the conditions. If
 * there are at most 20,000, their IDs become a condition (`prefilter.ts`). Revenue and contained text are expensive to
 * check, so IDs replace these filters, if at most 3,000 incidents meet them: revenue before the page is read.
 *
 * Joins: Postgres may have no statistics of the tables yet, so the other table is always looked up by its primary key.
 *
 * Searches: comparing texts takes as long as the texts are large, whatever index there is. If a prefilter does not
 * replace such a filter, incidents are searched in portions, and a page that has compared
 * `MAX_COMPARED_BYTES` ends there, even if it is not full (ADR 27).
 */

/** What is known while the segments of a page are read. */
interface ReadProgress {
  prefiltered: PrefilteredQuery;
  isPrefilteredByValues: boolean;
  /** Whether the list filters by anything besides the time of creation. */
  isSelective: boolean;
  /** How many bytes of text the page may still compare. */
  comparable: number;
}

/** An incident of a list, and where it is in the list. */
export type PositionedIncident = Listed<IncidentVersion> & { position: KeysetPosition };

export interface ListedPage {
  /** Up to `limit` incidents, and one more if there are more. */
  listed: PositionedIncident[];
  /** If the page ends early: the position of the last incident that was searched. */
  searchedUntil: KeysetPosition | undefined;
}

/**
 * Lists the incidents after a position.
 * @param prefiltered by `prefilterByRevenue`
 */
export async function readPage(
  db: Knex,
  prefiltered: PrefilteredQuery,
  { segments, after, limit }: { segments: readonly SortSegment[]; after: KeysetPosition | undefined; limit: number },
): Promise<ListedPage> {
  const rowsById = new Map<number, PositionedIncident>();
  const progress: ReadProgress = {
    prefiltered,
    isPrefilteredByValues: false,
    isSelective: isSelective(prefiltered.query) || prefiltered.ids !== undefined,
    comparable: MAX_COMPARED_BYTES,
  };
  const start = after === undefined ? 0 : segments.findIndex(({ name }) => name === after.segment);
  if (start === -1) throw new Error(`the sort has no segment ${after?.segment}`);
  for (const segment of partsOf(segments.slice(start), after)) {
    let from = segment.name === after?.segment ? after : undefined;
    for (let hasMore = true; hasMore && rowsById.size <= limit;) {
      // One more than the page shows: it tells whether there is a next page.
      const missing = limit + 1 - rowsById.size;
      const { rows, last, isEnd } = await readSegment(db, progress, { segment, after: from, limit: missing });
      for (const row of rows) {
        // An incident that loses its value between two statements is read again in the segment of those without one.
        if (!rowsById.has(row.id)) rowsById.set(row.id, Object.assign(row, { position: positionOf(row, segment) }));
      }
      if (last !== undefined) from = positionOf(last, segment);
      hasMore = !isEnd;
      if (progress.comparable <= 0 && rowsById.size <= limit) {
        return { listed: [...rowsById.values()], searchedUntil: from };
      }
    }
    if (rowsById.size > limit) break;
  }
  return { listed: [...rowsById.values()].slice(0, limit + 1), searchedUntil: undefined };
}

function* partsOf(segments: readonly SortSegment[], after: KeysetPosition | undefined): Iterable<SortSegment> {
  for (const segment of segments) {
    if (segment.partsFrom === undefined) yield segment;
    else yield* segment.partsFrom(segment.name === after?.segment ? after : undefined);
  }
}

type SegmentRead = Omit<SegmentRequest, 'conditions'> & { segment: SortSegment };

async function readSegment(
  db: Knex,
  progress: ReadProgress,
  read: SegmentRead,
): Promise<Pick<Portion, 'rows' | 'last' | 'isEnd'>> {
  const isFirst = progress.comparable === MAX_COMPARED_BYTES && progress.prefiltered.ids === undefined;
  if (isSearch(progress) && !isFirst) await prefilterOnce(db, progress);
  if (isSearch(progress)) return searchNext(db, progress, { ...read, isFirst });
  const rows = await readMatching(db, progress, read);
  return { rows, last: rows.at(-1), isEnd: rows.length < read.limit };
}

const isSearch = ({ prefiltered: { query } }: ReadProgress) =>
  query.filters.text !== null || query.custom.some(isTextSearch);

async function prefilterOnce(db: Knex, progress: ReadProgress): Promise<void> {
  if (progress.isPrefilteredByValues) return;
  progress.isPrefilteredByValues = true;
  const { query } = progress.prefiltered;
  const conditions = hasConditions(query) ? plainConditions(progress.prefiltered) : [];
  progress.prefiltered = await prefilterByValues(db, progress.prefiltered, conditions);
}

/** Searches the next portion. The filters by other fields are planned once the first portion did not fill the page. */
async function searchNext(
  db: Knex,
  progress: ReadProgress,
  { isFirst, ...read }: SegmentRead & { isFirst: boolean },
): Promise<Portion> {
  const { query } = progress.prefiltered;
  const searches = query.custom.filter(isTextSearch);
  const others = query.custom.filter((predicate) => !isTextSearch(predicate));
  const plain = plainConditions(progress.prefiltered);
  const { text } = query.filters;
  const portion = await searchPortion(db, {
    ...read,
    workspaceId: query.workspaceId,
    ids: progress.prefiltered.ids,
    conditions: isFirst ? plain : [...plain, ...customLookups({ ...query, custom: others })],
    searches: [
      ...customLookups(isFirst ? query : { ...query, custom: searches }),
      ...(text === null ? [] : [ofIncident(query, { expression: hasOwnText(sql`own`, text), incident: sql`i` })]),
    ],
    sizes: [
      ...(searches.length === 0 ? [] : [sizeOfValues({ ...query, custom: searches })]),
      ...(text === null ? [] : [ofIncident(query, { expression: ownTextBytes(sql`own`), incident: sql`incident` })]),
    ],
    comparable: progress.comparable,
  });
  progress.comparable -= portion.compared;
  return portion;
}

/** An expression on the row `own` of an incident of which only the ID is at hand. */
const ofIncident = (
  { workspaceId }: IncidentQuery,
  { expression, incident }: { expression: Sql; incident: Sql },
): Sql => sql`(
  select ${expression} from incidents as own where own.workspace_id = ${workspaceId} and own.id = ${incident}.id)`;

const sizeOfValues = ({ workspaceId, custom }: IncidentQuery): Sql => sql`coalesce((
  select sum(octet_length(v.text_folded)) from incident_values as v
  where v.workspace_id = ${workspaceId} and v.incident_id = incident.id
    and v.field_id = any(${custom.map(({ fieldId }) => fieldId)})), 0)`;

/**
 * How many incidents are checked one by one against filters by custom fields, before all that meet them are searched.
 */
const CHECKED_FIRST = 1_000;

/** Reads the next incidents of a segment with conditions that do not compare whole texts. */
async function readMatching(
  db: Knex,
  progress: ReadProgress,
  { segment, after, limit }: SegmentRead,
): Promise<PositionedRow[]> {
  const { query: list } = progress.prefiltered;
  const conditions = plainConditions(progress.prefiltered);
  // If hardly any row is rejected, all columns are read at once. Otherwise IDs come first, often from the index alone.
  if (segment.withColumns !== undefined && !progress.isSelective) {
    return query<PositionedRow>(db, statementOf(segment.withColumns({ conditions, after, limit }, COLUMNS), 'list'));
  }
  const readIncidents = async (ids: Sql) =>
    query<PositionedRow>(db, {
      ...statementOf(
        sql`
          select ${COLUMNS}, ${positionColumns(segment)}
          from (${ids}) as page
          cross join ${versionOf(list.workspaceId, sql`page.id`)}
          order by ${segment.order}`,
        'filtered',
      ),
      plannedForValues: true,
    });
  // The values of a field are read in its order, whatever the properties of their incidents.
  const isByValues = list.sortField !== null && hasConditions(list);
  if (
    list.custom.length > 0 &&
    !isByValues &&
    !progress.isPrefilteredByValues &&
    progress.prefiltered.ids === undefined
  ) {
    const first = segment.statement({ conditions, after, limit: CHECKED_FIRST });
    const rows = await readIncidents(sql`
      select i.id, ${positionColumns(segment)} from (${first}) as i
      where ${all(customLookups(list))}
      order by ${segment.order}
      limit ${limit}`);
    if (rows.length === limit) return rows;
  }
  if (list.custom.length > 0 || isByValues) await prefilterOnce(db, progress);
  const { ids } = progress.prefiltered;
  return readIncidents(segment.statement({ conditions: [...conditions, ...customLookups(list)], ids, after, limit }));
}

/** All conditions except the filters by custom fields and by text. */
const plainConditions = ({ query }: PrefilteredQuery): Sql[] => [
  ...filterConditions(query, 'shown'),
  ...statusConditions(query),
];

/** A page of a list ends after it has compared so many bytes of text with searched ones: a quarter of a second at worst. */
const MAX_COMPARED_BYTES = 8 * 1_024 * 1_024;

/** How many incidents one statement searches. */
const PORTION = 1_000;

/** What an incident counts in addition to its texts, in bytes: finding it takes about as long as comparing so many. */
const COST_OF_INCIDENT = 256;

interface PortionRequest extends SegmentRequest {
  workspaceId: number;
  segment: SortSegment;
  /** The conditions on incidents `i` that compare texts, each by looking up the value of the incident at hand. */
  searches: readonly Sql[];
  /** The bytes of the texts of `incident` that are compared. */
  sizes: readonly Sql[];
  /** The portion ends with the incident whose texts reach this number of bytes. */
  comparable: number;
}

interface Portion {
  /** Up to `limit` incidents that meet all conditions. */
  rows: PositionedRow[];
  /** The last incident that was searched, whether it meets the conditions or not. */
  last: PositionedRow | undefined;
  /** Whether all incidents of the segment were searched. */
  isEnd: boolean;
  /** How many bytes were compared. */
  compared: number;
}

/**
 * Searches the next incidents of a segment in the order of the list. Stops when enough are found. The sizes of large texts
 * are known without reading the texts.
 */
async function searchPortion(db: Knex, request: PortionRequest): Promise<Portion> {
  const { segment, limit, searches, comparable } = request;
  const position = positionColumns(segment);
  const selected = await query<
    PositionedRow & { is_match: boolean; place: number; compared: number; is_last: boolean }
  >(
    db,
    statementOf(sql`
      select ${COLUMNS}, ${position}, is_match, is_last, place, compared
      from (
        select i.id, ${position}, place, compared, compared >= ${comparable} or is_final as is_last,
          ${all(searches)} as is_match
        from (${withSizes(request)}) as i
        where compared - cost < ${comparable}) as page
      cross join ${versionOf(request.workspaceId, sql`page.id`)}
      where is_match or is_last
      order by ${segment.order}
      limit ${limit}`),
  );
  const rows = selected.filter(({ is_match }) => is_match);
  const last = selected.at(-1);
  const isEnd = last === undefined || (last.is_last && last.place < PORTION && last.compared < comparable);
  return { rows, last, isEnd, compared: last?.compared ?? 0 };
}

/** The incidents of a portion, their number in its order, and the bytes of their texts up to them, each sized once. */
function withSizes({ segment, conditions, ids, after, sizes }: PortionRequest): Sql {
  const position = positionColumns(segment);
  return sql`
    select id, ${position}, cost,
      row_number() over (order by ${segment.order}) as place,
      (sum(cost) over (order by ${segment.order} rows unbounded preceding))::bigint as compared,
      lead(id) over (order by ${segment.order}) is null as is_final
    from (
      select incident.id, ${position}, ${COST_OF_INCIDENT} + ${join(sizes, ' + ')} as cost
      from (${segment.statement({ conditions, ids, after, limit: PORTION })}) as incident
      offset 0) as sized`;
}
