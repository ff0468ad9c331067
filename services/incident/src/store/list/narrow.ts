import type { Knex } from '@tocsin/runtime';
import type { CustomPredicate } from '../../domain/custom-filter.ts';
import { searchedGrams } from '../text-grams.ts';
import { mrrSearch } from './mrr-search.ts';
import type { ListQuestion } from './question.ts';
import { run, type Sql, sql } from './sql.ts';

/** What more incidents than these meet is sooner found along the order of the list. */
const MOST = 3_000;

/** A question, and what else is asked of incidents `i`. */
export interface Narrowed {
  question: ListQuestion;
  conditions: readonly Sql[];
}

/**
 * The same question, with the IDs of incidents instead of its filter by revenue, if few meet that: only an index of the filter's
 * own can tell that they are few. Given IDs, Postgres knows whether to begin with them or to walk along the order.
 */
export async function narrowMrr(db: Knex, question: ListQuestion): Promise<Narrowed> {
  const search = await mrrSearch(db, question, MOST + 1);
  const ids = search && (await findFew(db, search));
  if (ids === undefined) return { question, conditions: [] };
  return { question: { ...question, filters: { ...question.filters, mrr: null } }, conditions: [isOneOf(ids)] };
}

/** The same for texts that fields contain. */
export async function narrowTexts(db: Knex, { question, conditions }: Narrowed): Promise<Narrowed> {
  const found: Sql[] = [];
  const custom: CustomPredicate[] = [];
  for (const predicate of question.custom) {
    const search = textSearch(predicate);
    const ids = search && (await findFew(db, search));
    if (ids === undefined) custom.push(predicate);
    else found.push(isOneOf(ids));
  }
  return { question: { ...question, custom }, conditions: [...conditions, ...found] };
}

const isOneOf = (ids: readonly string[]) => sql`i.id = any(${ids})`;

/** A text that contains another has all of its grams. */
function textSearch({ operator, fieldId, operands }: CustomPredicate): Sql | undefined {
  const [searched = ''] = operands as string[];
  if (operator !== 'contains' || searched === '') return undefined;
  return sql`
    select v.incident_id from incident_values as v
    where v.text_grams @> ${searchedGrams(fieldId, searched)} and strpos(v.text_folded, ${searched}) > 0`;
}

/** Their IDs, undefined where they are not few. Materialized, lest Postgres reads a whole table to find the first of them. */
async function findFew(db: Knex, search: Sql): Promise<string[] | undefined> {
  const [few] = await run<{ ids: string[] | null }>(
    db,
    sql`
      with found as materialized (${search}), few as (select incident_id from found limit ${MOST + 1})
      select case when count(*) <= ${MOST} then coalesce(array_agg(incident_id::text), '{}') end as ids from few`,
  );
  return few?.ids ?? undefined;
}
