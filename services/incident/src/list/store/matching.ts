import { type Knex, query } from '@tocsin/postgres';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import { containsText, MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { customLookups, customSearches, isNegated } from './custom-filters.ts';
import { filterConditions, type Visibility, hasOwnText, ownTextBytes } from './filters.ts';
import { isTextSearch, mayContain, type PrefilteredQuery, searchedText } from './prefilter.ts';
import { incidentOf, isOneOf } from './segments.ts';
import { all, join, Sql, sql, statementOf } from '../../shared/store/sql.ts';

/** Whether the texts that may contain the searched ones are within the limit. */
export async function isComparable(db: Knex, { query: list, ids }: PrefilteredQuery): Promise<boolean> {
  const sizes = list.custom.filter(isTextSearch).map(
    (search) => sql`
      select sum(octet_length(v.text_folded)) as bytes from incident_values as v where ${mayContain(list.workspaceId, search)}`,
  );
  if (list.filters.text !== null) {
    const visibilities: Visibility[] = list.visibleFrom === null ? ['shown'] : ['shown', 'restricted'];
    for (const visibility of visibilities) {
      const others = all([...filterConditions(list, visibility), ...isOneOf(sql`i.id`, ids)]);
      sizes.push(sql`select sum(${ownTextBytes(sql`i`)}) as bytes from incidents as i where ${others}`);
    }
  }
  if (sizes.length === 0) return true;
  const [row] = await query<{ bytes: number | null }>(
    db,
    statementOf(sql`select sum(bytes)::bigint as bytes from (${join(sizes, ' union all ')}) as sizes`),
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
 * @param prefiltered by `prefilterByValues`; `isComparable` said that its texts may be compared
 */
export function matching(
  prefiltered: PrefilteredQuery,
  { columns, visibility = 'shown', conditions = [] }: Matching,
): Sql {
  const { query } = prefiltered;
  const selected = join(
    Object.entries(columns).map(([name, value]) => sql`${value} as ${new Sql(name, [])}`),
    ', ',
  );
  const others = query.custom.filter((predicate) => !isTextSearch(predicate));
  const searches = [
    ...query.custom.filter(isTextSearch).map((search) => incidentsWith(query.workspaceId, search)),
    ...(prefiltered.ids === undefined ? customSearches({ ...query, custom: others }) : []),
  ];
  const lookups = prefiltered.ids === undefined ? others.filter(isNegated) : others;
  const { text } = query.filters;
  const filters = [
    ...filterConditions(query, visibility),
    ...isOneOf(sql`i.id`, prefiltered.ids),
    ...conditions,
    ...customLookups({ ...query, custom: lookups }),
    ...(text === null ? [] : [hasOwnText(sql`i`, text)]),
  ];
  if (searches.length === 0) return sql`select ${selected} from incidents as i where ${all(filters)}`;
  return sql`
    select ${selected}
    from (${join(searches, ' intersect ')}) as match cross join ${incidentOf(query.workspaceId, sql`match.incident_id`)}
    where ${all(filters)}`;
}

/** Selects the incidents whose text contains the searched one. Compares only texts that have all of its grams. */
const incidentsWith = (workspaceId: number, search: CustomPredicate): Sql => sql`(
  with hit as materialized (
    select v.incident_id, v.text_folded from incident_values as v where ${mayContain(workspaceId, search)})
  select incident_id from hit where ${containsText(sql`text_folded`, searchedText(search))})`;
