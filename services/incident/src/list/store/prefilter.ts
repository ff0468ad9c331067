import { type Knex, query } from '@tocsin/postgres';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import { containsText, MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { manyGrams, searchedGrams } from '../../values/store/value-row.ts';
import { customSearches } from './custom-filters.ts';
import { revenueSearch } from './mrr-index-ranges.ts';
import type { IncidentQuery } from './query.ts';
import { all, join, type Sql, sql, statementOf } from '../../shared/store/sql.ts';

/** If more incidents than this meet a filter, reading along the order of the list finds a page of them sooner. */
const MAX_IDS = 3_000;

/** The same for filters by other values, after the first incidents of the list did not fill a page. */
const MAX_SEARCHED = 20_000;

/** If more texts than this have all grams of a searched text, they are not compared in advance. */
const MAX_CANDIDATES = 5_000;

/** A query some of whose filters may be replaced by the IDs of the incidents that meet them. */
export interface PrefilteredQuery {
  /** Without the filters that are replaced. */
  query: IncidentQuery;
  /** What replaces them; undefined: nothing is replaced. */
  ids: readonly string[] | undefined;
}

/**
 * Replaces the filter by revenue if at most `MAX_IDS` incidents meet it. Only the filter's own index can tell how
 * many they are. With a list of IDs, Postgres knows the number and chooses well between starting from the IDs and
 * reading along the order of the list.
 */
export async function prefilterByRevenue(db: Knex, query: IncidentQuery): Promise<PrefilteredQuery> {
  const search = await revenueSearch(db, query, MAX_IDS + 1);
  const ids = search && (await findIds(db, search, MAX_IDS));
  if (ids === undefined) return { query, ids };
  return { query: { ...query, filters: { ...query.filters, mrr: null } }, ids };
}

/**
 * Replaces each filter for text contained in a custom field that at most `MAX_IDS` incidents meet, and adds the IDs of the
 * incidents that meet the other filters by one field, or the conditions, if they are so few.
 * @param conditions on incidents `i`; default: none
 */
export async function prefilterByValues(
  db: Knex,
  { query, ids }: PrefilteredQuery,
  conditions: readonly Sql[] = [],
): Promise<PrefilteredQuery> {
  const few = ids === undefined ? [] : [ids];
  const custom: CustomPredicate[] = [];
  for (const predicate of query.custom) {
    const matching = isTextSearch(predicate) ? await findTextIds(db, query.workspaceId, predicate) : undefined;
    if (matching === undefined) custom.push(predicate);
    else few.push(matching);
  }
  const searches = customSearches({ ...query, custom: custom.filter((predicate) => !isTextSearch(predicate)) });
  const bounded = [...searches];
  if (conditions.length > 0) bounded.push(sql`select i.id as incident_id from incidents as i where ${all(conditions)}`);
  for (const search of bounded) {
    if (few.some(({ length }) => length <= MAX_IDS)) break;
    const matching = await findIds(db, search, MAX_SEARCHED);
    if (matching !== undefined) few.push(matching);
  }
  if (few.length === 0 && searches.length > 1) {
    const matching = await findIds(db, join(searches, ' intersect '), MAX_SEARCHED);
    if (matching !== undefined) few.push(matching);
  }
  const sets = few.map((each) => new Set(each));
  return { query: { ...query, custom }, ids: few[0]?.filter((id) => sets.every((each) => each.has(id))) };
}

/** Whether a filter compares whole texts: whether they contain another, which an empty one always is. */
export const isTextSearch = ({ operator, operands: [text] }: CustomPredicate) => operator === 'contains' && text !== '';

export const searchedText = ({ operands: [text] }: CustomPredicate) => text as string;

/** The values `v` whose text may contain the searched one, by its grams. */
export const mayContain = (workspaceId: number, search: CustomPredicate): Sql =>
  sql`v.workspace_id = ${workspaceId} and (v.text_grams @> ${searchedGrams(search.fieldId, searchedText(search))} or v.text_grams @> ${[manyGrams(search.fieldId)]})`;

/** `materialized` keeps Postgres from planning for the first rows only, which can make it read the whole table. */
async function findIds(db: Knex, search: Sql, most: number): Promise<string[] | undefined> {
  const [row] = await query<{ ids: string[] | null }>(
    db,
    statementOf(sql`
      with found as materialized (${search}), few as (select incident_id from found limit ${most + 1})
      select ${idsOfFew(most)} as ids from few`),
  );
  return row?.ids ?? undefined;
}

/** The IDs of the rows of `few`; null if they are more than `most`. */
const idsOfFew = (most: number): Sql =>
  sql`case when count(*) <= ${most} then coalesce(array_agg(incident_id::text), '{}') end`;

/** Compares the texts of the incidents that have all grams, if they are few and small; undefined if not. */
async function findTextIds(db: Knex, workspaceId: number, predicate: CustomPredicate): Promise<string[] | undefined> {
  const [row] = await query<{ ids: string[] | null }>(
    db,
    statementOf(sql`
      with hit as materialized (
        select v.incident_id, v.text_folded from incident_values as v where ${mayContain(workspaceId, predicate)}),
      candidate as materialized (select incident_id, text_folded from hit limit ${MAX_CANDIDATES + 1}),
      total as materialized (select count(*) as texts, sum(octet_length(text_folded)) as bytes from candidate),
      bounded as (select from total where texts <= ${MAX_CANDIDATES} and coalesce(bytes, 0) <= ${MAX_COMPARED_BYTES}),
      few as (
        select incident_id from bounded cross join candidate
        where ${containsText(sql`text_folded`, searchedText(predicate))}
        limit ${MAX_IDS + 1})
      select case when exists (select from bounded) then ${idsOfFew(MAX_IDS)} end as ids from few`),
  );
  return row?.ids ?? undefined;
}
