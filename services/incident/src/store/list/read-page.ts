/**
 * Reads one page of a list of incidents. A list sorts by any of a dozen properties or by a custom field, under any
 * filters, and a page must take about a millisecond in a workspace with hundreds of thousands of incidents, however
 * deep it is. So no statement may sort the whole list, skip rows by `offset`, or filter after sorting. See
 * docs/adr/0012-lists-walk-along-indexes.md for the reasons.
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
 * Filters: most are plain conditions on `incidents`. Filters by custom fields are subqueries, and Postgres cannot
 * estimate how many incidents they let through, because the values of all fields share their columns. So the first
 * 1,000 incidents in list order are checked one by one, which fills a page if the filter is common. Only if it does
 * not, Postgres gets to plan the search for all incidents that meet the filter.
 *
 * Prefilter: filters by revenue and by contained text can be so rare that hardly any incident passes, and checking
 * them is expensive. Each has an index that finds the few incidents directly. If there are at most 3,000, their IDs
 * replace the filter (`prefilter.ts`); revenue before the page is read, text only once the first 1,000 incidents were
 * not enough.
 */
import type { Key } from '@tocsin/http';
import type { Listed, ListedRow } from '@tocsin/resources';
import type { Knex } from '@tocsin/runtime';
import type { Incident } from '../../domain/incident.ts';
import { type IncidentRow, LISTED_INCIDENT_COLUMNS, toListedIncident } from '../incident-row.ts';
import { customConditions, customLookups } from './custom-filters.ts';
import { filterConditions, isSelective, statusConditions } from './filters.ts';
import { type PrefilteredQuery, prefilterByText } from './prefilter.ts';
import type { KeysetPosition, SegmentRequest, SortSegment } from './segments.ts';
import { all, run, Sql, sql } from './sql.ts';

type Row = ListedRow<IncidentRow> & { tie: number; key_0?: Key; key_1?: Key };

/** What is known while the segments of a page are read. */
interface ReadProgress {
  prefiltered: PrefilteredQuery;
  isPrefilteredByText: boolean;
  /** Whether the list filters by anything besides the time of creation. */
  isSelective: boolean;
}

/** An incident of a list, and where it is in the list. */
export type PositionedIncident = Listed<Incident> & { position: KeysetPosition };

/**
 * Lists up to `limit` incidents after a position, and one more if there are more.
 * @param prefiltered by `prefilterByRevenue`
 */
export async function readPage(
  db: Knex,
  prefiltered: PrefilteredQuery,
  { segments, after, limit }: { segments: readonly SortSegment[]; after: KeysetPosition | undefined; limit: number },
): Promise<PositionedIncident[]> {
  const rowsById = new Map<number, PositionedIncident>();
  const progress: ReadProgress = {
    prefiltered,
    isPrefilteredByText: false,
    isSelective: isSelective(prefiltered.query) || prefiltered.conditions.length > 0,
  };
  const start = after === undefined ? 0 : segments.findIndex(({ name }) => name === after.segment);
  if (start === -1) throw new Error(`the sort has no segment ${after?.segment}`);
  for (const segment of segments.slice(start)) {
    let from = segment.name === after?.segment ? after : undefined;
    for (let hasMore = true; hasMore && rowsById.size <= limit;) {
      // One more than the page shows: it tells whether there is a next page.
      const missing = limit + 1 - rowsById.size;
      const rows = await readSegment(db, progress, { segment, after: from, limit: missing });
      for (const row of rows) {
        const columns = [row.key_0, row.key_1].slice(0, segment.keys.length) as Key[];
        from = { segment: segment.name, keys: segment.keysOf(columns), tie: row.tie };
        // An incident that loses its value between two statements is read again in the segment of those without one.
        if (!rowsById.has(row.id)) rowsById.set(row.id, { ...toListedIncident(row), position: from });
      }
      hasMore = rows.length === missing;
    }
  }
  return [...rowsById.values()].slice(0, limit + 1);
}

const COLUMNS = new Sql(LISTED_INCIDENT_COLUMNS, []);
const POSITION_COLUMNS = [sql`tie`, sql`tie, key_0`, sql`tie, key_0, key_1`];

/**
 * How many incidents are checked one by one against filters by custom fields, before all that meet them are searched.
 */
const CHECKED_FIRST = 1_000;

async function readSegment(
  db: Knex,
  progress: ReadProgress,
  { segment, after, limit }: Omit<SegmentRequest, 'conditions'> & { segment: SortSegment },
): Promise<Row[]> {
  const conditions = plainConditions(progress.prefiltered);
  // If hardly any row is rejected, all columns are read at once. Otherwise IDs come first, often from the index alone.
  if (segment.withColumns !== undefined && !progress.isSelective) {
    return run<Row>(db, segment.withColumns({ conditions, after, limit }, COLUMNS));
  }
  const position = POSITION_COLUMNS[segment.keys.length] ?? sql`tie`;
  const readIncidents = async (ids: Sql) =>
    run<Row>(
      db,
      sql`
        select ${COLUMNS}, ${position}
        from (${ids}) as page
        join incidents as i on i.id = page.id
        order by ${segment.order}`,
    );
  const { query } = progress.prefiltered;
  // After a prefilter few incidents are left, and checking some of them first saves nothing.
  if (query.custom.length > 0 && progress.prefiltered.conditions.length === 0) {
    const first = segment.statement({ conditions, after, limit: CHECKED_FIRST });
    const rows = await readIncidents(sql`
      select i.id, ${position} from (${first}) as i
      where ${all(customLookups(query))}
      order by ${segment.order}
      limit ${limit}`);
    if (rows.length === limit) return rows;
  }
  if (!progress.isPrefilteredByText) {
    progress.isPrefilteredByText = true;
    progress.prefiltered = await prefilterByText(db, progress.prefiltered);
  }
  const remaining = [...plainConditions(progress.prefiltered), ...customConditions(progress.prefiltered.query)];
  return readIncidents(segment.statement({ conditions: remaining, after, limit }));
}

/** All conditions except the filters by custom fields. */
const plainConditions = ({ query, conditions }: PrefilteredQuery): Sql[] => [
  ...filterConditions(query, 'shown'),
  ...statusConditions(query),
  ...conditions,
];
