import type { Knex } from '@tocsin/postgres';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import { containsText, MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { customConditions, customLookups } from './custom-filters.ts';
import { filterConditions, type Visibility, hasOwnText, ownTextBytes } from './filters.ts';
import { isTextSearch, mayContain, type PrefilteredQuery, searchedText } from './prefilter.ts';
import { all, join, run, Sql, sql } from '../../shared/store/sql.ts';

/** Whether the texts that may contain the searched ones are within the limit. */
export async function isComparable(db: Knex, { query, conditions }: PrefilteredQuery): Promise<boolean> {
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

interface Matching {
  /** Expressions of incidents `i`, by the names of the columns. */
  columns: Readonly<Record<string, Sql>>;
  visibility?: Visibility;
  conditions?: readonly Sql[];
}

/**
 * Selects columns of each incident that meets the filters, except those by status, and the other conditions.
 * @param prefiltered by `prefilterByText`; `isComparable` said that its texts may be compared
 */
export function matching(
  prefiltered: PrefilteredQuery,
  { columns, visibility = 'shown', conditions = [] }: Matching,
): Sql {
  const { query } = prefiltered;
  const names = new Sql(Object.keys(columns).join(', '), []);
  const selected = join(
    Object.entries(columns).map(([name, value]) => sql`${value} as ${new Sql(name, [])}`),
    ', ',
  );
  const searches = query.custom.filter(isTextSearch);
  const others = { ...query, custom: query.custom.filter((predicate) => !isTextSearch(predicate)) };
  const { text } = query.filters;
  const filters = [
    ...filterConditions(query, visibility),
    ...prefiltered.conditions,
    ...conditions,
    ...(text === null ? [] : [hasOwnText(sql`i`, text)]),
  ];
  if (searches.length === 0) {
    return sql`select ${selected} from incidents as i where ${all([...filters, ...customConditions(others)])}`;
  }
  // `offset 0` keeps Postgres from joining in another order: it cannot estimate how many texts match.
  return sql`
    select ${names}
    from (${join(searches.map(incidentsWith), ' intersect ')}) as match
    cross join lateral (
      select ${selected} from incidents as i
      where ${all([sql`i.id = match.incident_id`, ...filters, ...customLookups(others)])}
      offset 0) as i`;
}

/** Selects the incidents whose text contains the searched one. Compares only texts that have all of its grams. */
const incidentsWith = (search: CustomPredicate): Sql => sql`(
  with hit as materialized (
    select v.incident_id, v.text_folded from incident_values as v where ${mayContain(search)})
  select incident_id from hit where ${containsText(sql`text_folded`, searchedText(search))})`;
