import { invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import { containsText, MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { customConditions, customLookups } from './custom-filters.ts';
import { filterConditions, statusConditions, type Visibility } from './filters.ts';
import { hasOwnText, ownTextBytes } from './own-text.ts';
import { isTextSearch, mayContain, type PrefilteredQuery, prefilterByText, searchedText } from './prefilter.ts';
import { all, join, run, type Sql, sql } from '../../shared/store/sql.ts';

/** The counts of a list, whatever the page. */
export interface ListCounts {
  /** How many incidents the workspace's history limit hides; undefined if too much text would have to be compared. */
  restricted: number | undefined;
  /** If requested, how many incidents of each status the list has without its filters by status. */
  byStatus: Map<string, number> | undefined;
}

/**
 * Counts the incidents of a list.
 * @param prefiltered by `prefilterByRevenue`
 * @throws DomainError `invalid_request` if statuses are requested and too much text would have to be compared
 */
export async function readCounts(
  db: Knex,
  prefiltered: PrefilteredQuery,
  { includeStatuses }: { includeStatuses: boolean },
): Promise<ListCounts> {
  const isLimited = prefiltered.query.visibleFrom !== null;
  if (!isLimited && !includeStatuses) return { restricted: 0, byStatus: undefined };
  const counted = await prefilterByText(db, prefiltered);
  if (!(await isComparable(db, counted))) {
    if (!includeStatuses) return { restricted: undefined, byStatus: undefined };
    throw invalidRequest(
      'include_counts',
      'Must be false, or other filters must select fewer incidents, or custom_filter must have longer texts: more than 32 MiB of text would have to be compared',
    );
  }
  const [restricted, byStatus] = await Promise.all([
    isLimited ? countRestricted(db, counted) : 0,
    includeStatuses ? countByStatus(db, counted) : undefined,
  ]);
  return { restricted, byStatus };
}

/** Whether the texts that may contain the searched ones are within the limit. */
async function isComparable(db: Knex, { query, conditions }: PrefilteredQuery): Promise<boolean> {
  const sizes = query.custom.filter(isTextSearch).map(
    (search) => sql`
      select sum(octet_length(v.text_folded)) as bytes from incident_values as v where ${mayContain(search)}`,
  );
  if (query.filters.text !== null) {
    const visibilities: Visibility[] = query.visibleFrom === null ? ['shown'] : ['shown', 'restricted'];
    for (const visibility of visibilities) {
      const others = all([...filterConditions(query, visibility), ...conditions]);
      sizes.push(sql`select sum(${ownTextBytes(sql`i`)}) as bytes from incidents as i where ${others}`);
    }
  }
  if (sizes.length === 0) return true;
  const [row] = await run<{ bytes: number | null }>(
    db,
    sql`select sum(bytes)::bigint as bytes from (${join(sizes, ' union all ')}) as sizes`,
  );
  return (row?.bytes ?? 0) <= MAX_COMPARED_BYTES;
}

async function countByStatus(db: Knex, counted: PrefilteredQuery): Promise<Map<string, number>> {
  const rows = await run<{ status: string; incidents: number }>(
    db,
    sql`select status, count(*) as incidents from (${counting(counted, 'shown', [])}) as counted group by status`,
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

async function countRestricted(db: Knex, counted: PrefilteredQuery): Promise<number> {
  const restricted = counting(counted, 'restricted', statusConditions(counted.query));
  const [row] = await run<{ incidents: number }>(db, sql`select count(*) as incidents from (${restricted}) as counted`);
  return row?.incidents ?? 0;
}

/** Selects the status of each incident that meets the filters. */
function counting({ query, conditions }: PrefilteredQuery, visibility: Visibility, more: readonly Sql[]): Sql {
  const searches = query.custom.filter(isTextSearch);
  const others = { ...query, custom: query.custom.filter((predicate) => !isTextSearch(predicate)) };
  const { text } = query.filters;
  const filters = [
    ...filterConditions(query, visibility),
    ...conditions,
    ...more,
    ...(text === null ? [] : [hasOwnText(sql`i`, text)]),
  ];
  if (searches.length === 0) {
    return sql`select i.status from incidents as i where ${all([...filters, ...customConditions(others)])}`;
  }
  // `offset 0` keeps Postgres from joining in another order: it cannot estimate how many texts match.
  return sql`
    select i.status
    from (${join(searches.map(incidentsWith), ' intersect ')}) as match
    cross join lateral (
      select i.status from incidents as i
      where ${all([sql`i.id = match.incident_id`, ...filters, ...customLookups(others)])}
      offset 0) as i`;
}

/** Selects the incidents whose text contains the searched one. Compares only texts that have all of its grams. */
const incidentsWith = (search: CustomPredicate): Sql => sql`(
  with hit as materialized (
    select v.incident_id, v.text_folded from incident_values as v where ${mayContain(search)})
  select incident_id from hit where ${containsText(sql`text_folded`, searchedText(search))})`;
