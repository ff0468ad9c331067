import type { Knex } from '@tocsin/postgres';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import { containsText, MAX_COMPARED_BYTES } from '../../shared/store/contains-text.ts';
import { manyGrams, searchedGrams } from '../../values/store/value-row.ts';
import { revenueSearch } from './mrr-index-ranges.ts';
import type { IncidentQuery } from './query.ts';
import { run, type Sql, sql } from '../../shared/store/sql.ts';

/** If more incidents than this meet a filter, reading along the order of the list finds a page of them sooner. */
const MAX_IDS = 3_000;

/** If more texts than this have all grams of a searched text, they are not compared in advance. */
const MAX_CANDIDATES = 5_000;

/** A query some of whose filters may be replaced by the IDs of the incidents that meet them. */
export interface PrefilteredQuery {
  /** Without the filters that are replaced. */
  query: IncidentQuery;
  /** What replaces them: conditions on the IDs of incidents `i`. */
  conditions: readonly Sql[];
}

/**
 * Replaces the filter by revenue if at most `MAX_IDS` incidents meet it. Only the filter's own index can tell how
 * many they are. With a list of IDs, Postgres knows the number and chooses well between starting from the IDs and
 * reading along the order of the list.
 */
export async function prefilterByRevenue(db: Knex, query: IncidentQuery): Promise<PrefilteredQuery> {
  const search = await revenueSearch(db, query, MAX_IDS + 1);
  const ids = search && (await findRevenueIds(db, search));
  if (ids === undefined) return { query, conditions: [] };
  return { query: { ...query, filters: { ...query.filters, mrr: null } }, conditions: [isOneOf(ids)] };
}

/** Replaces each filter for text contained in a custom field that at most `MAX_IDS` incidents meet. */
export async function prefilterByText(db: Knex, { query, conditions }: PrefilteredQuery): Promise<PrefilteredQuery> {
  const replaced: Sql[] = [];
  const custom: CustomPredicate[] = [];
  for (const predicate of query.custom) {
    const ids = isTextSearch(predicate) ? await findTextIds(db, predicate) : undefined;
    if (ids === undefined) custom.push(predicate);
    else replaced.push(isOneOf(ids));
  }
  return { query: { ...query, custom }, conditions: [...conditions, ...replaced] };
}

const isOneOf = (ids: readonly string[]) => sql`i.id = any(${ids})`;

/** Whether a filter compares whole texts: whether they contain another, which an empty one always is. */
export const isTextSearch = ({ operator, operands: [text] }: CustomPredicate) => operator === 'contains' && text !== '';

export const searchedText = ({ operands: [text] }: CustomPredicate) => text as string;

/** The values `v` whose text may contain the searched one, by its grams. */
export const mayContain = (search: CustomPredicate): Sql =>
  sql`(v.text_grams @> ${searchedGrams(search.fieldId, searchedText(search))} or v.text_grams @> ${[manyGrams(search.fieldId)]})`;

/** `materialized` keeps Postgres from planning for the first rows only, which can make it read the whole table. */
async function findRevenueIds(db: Knex, search: Sql): Promise<string[] | undefined> {
  const [row] = await run<{ ids: string[] | null }>(
    db,
    sql`
      with found as materialized (${search}), few as (select incident_id from found limit ${MAX_IDS + 1})
      select ${idsOfFew} as ids from few`,
  );
  return row?.ids ?? undefined;
}

/** The IDs of the rows of `few`; null if they are more than `MAX_IDS`. */
const idsOfFew = sql`case when count(*) <= ${MAX_IDS} then coalesce(array_agg(incident_id::text), '{}') end`;

/** Compares the texts of the incidents that have all grams, if they are few and small; undefined if not. */
async function findTextIds(db: Knex, predicate: CustomPredicate): Promise<string[] | undefined> {
  const [row] = await run<{ ids: string[] | null }>(
    db,
    sql`
      with hit as materialized (
        select v.incident_id, v.text_folded from incident_values as v where ${mayContain(predicate)}),
      candidate as materialized (select incident_id, text_folded from hit limit ${MAX_CANDIDATES + 1}),
      total as materialized (select count(*) as texts, sum(octet_length(text_folded)) as bytes from candidate),
      bounded as (select from total where texts <= ${MAX_CANDIDATES} and coalesce(bytes, 0) <= ${MAX_COMPARED_BYTES}),
      few as (
        select incident_id from bounded cross join candidate
        where ${containsText(sql`text_folded`, searchedText(predicate))}
        limit ${MAX_IDS + 1})
      select case when exists (select from bounded) then ${idsOfFew} end as ids from few`,
  );
  return row?.ids ?? undefined;
}
