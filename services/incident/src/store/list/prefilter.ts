import type { Knex } from '@tocsin/runtime';
import type { CustomPredicate } from '../../domain/custom-filter.ts';
import { searchedGrams } from '../text-grams.ts';
import { revenueSearch } from './mrr-index-ranges.ts';
import type { IncidentQuery } from './query.ts';
import { run, type Sql, sql } from './sql.ts';

/** If more incidents than this meet a filter, reading along the order of the list finds a page of them sooner. */
const MAX_IDS = 3_000;

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
  const ids = search && (await findFewIds(db, search));
  if (ids === undefined) return { query, conditions: [] };
  return { query: { ...query, filters: { ...query.filters, mrr: null } }, conditions: [isOneOf(ids)] };
}

/** Replaces each filter for text contained in a custom field that at most `MAX_IDS` incidents meet. */
export async function prefilterByText(db: Knex, { query, conditions }: PrefilteredQuery): Promise<PrefilteredQuery> {
  const replaced: Sql[] = [];
  const custom: CustomPredicate[] = [];
  for (const predicate of query.custom) {
    const search = textSearch(predicate);
    const ids = search && (await findFewIds(db, search));
    if (ids === undefined) custom.push(predicate);
    else replaced.push(isOneOf(ids));
  }
  return { query: { ...query, custom }, conditions: [...conditions, ...replaced] };
}

const isOneOf = (ids: readonly string[]) => sql`i.id = any(${ids})`;

/**
 * The incidents with a text that contains another, by its grams. Undefined for other operators and for an empty text.
 */
function textSearch({ operator, fieldId, operands }: CustomPredicate): Sql | undefined {
  const [text = ''] = operands as string[];
  if (operator !== 'contains' || text === '') return undefined;
  return sql`
    select v.incident_id from incident_values as v
    where v.text_grams @> ${searchedGrams(fieldId, text)} and strpos(v.text_folded, ${text}) > 0`;
}

/**
 * The IDs that a search finds; undefined if they are more than `MAX_IDS`. `materialized` keeps Postgres from planning
 * for the first rows only, which can make it read the whole table.
 */
async function findFewIds(db: Knex, search: Sql): Promise<string[] | undefined> {
  const [row] = await run<{ ids: string[] | null }>(
    db,
    sql`
      with found as materialized (${search}), few as (select incident_id from found limit ${MAX_IDS + 1})
      select case when count(*) <= ${MAX_IDS} then coalesce(array_agg(incident_id::text), '{}') end as ids from few`,
  );
  return row?.ids ?? undefined;
}
