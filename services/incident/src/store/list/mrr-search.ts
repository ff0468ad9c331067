import type { Knex } from '@tocsin/runtime';
import { MANY } from '../mrr-parts.ts';
import { stretchesOf } from './mrr-stretches.ts';
import type { ListQuestion } from './question.ts';
import { all, join, run, type Sql, sql } from './sql.ts';

/** More take longer to plan than they save. */
const MOST_STRETCHES = 100;

/** The incidents whose revenue is as it is wanted, `limit` at most. Undefined where the index does not help. */
export async function mrrSearch(db: Knex, question: ListQuestion, limit: number): Promise<Sql | undefined> {
  const { workspaceId, filters, conversions } = question;
  const wanted = filters.mrr;
  if (wanted === null) return undefined;
  const sets = await setsOfCurrencies(db, workspaceId);
  if (sets.length > MOST_STRETCHES || sets.includes(MANY)) return undefined;
  const factors = new Map(conversions.map(({ currency, factor }) => [currency, sql`${factor}::numeric`]));
  const stretches = sets.flatMap((currencies) => stretchesOf(currencies, wanted, factors));
  if (stretches.length > MOST_STRETCHES) return undefined;
  const searches = stretches.map(({ currencies, currency, where }) => {
    const inSet = sql`m.workspace_id = ${workspaceId} and m.currencies = ${currencies} and m.currency = ${currency}`;
    return sql`(
      select m.incident_id from incident_mrr as m
      where ${all([inSet, ...where])}
      order by m.amount_minor
      limit ${limit})`;
  });
  return searches.length === 0 ? sql`select 0::bigint as incident_id where false` : join(searches, ' union all ');
}

/** All sets of currencies in which the workspace's incidents have revenue, or more than can be searched. */
async function setsOfCurrencies(db: Knex, workspaceId: number): Promise<string[]> {
  const first = (beyond: Sql) => sql`
    select min(m.currencies) as currencies from incident_mrr as m where m.workspace_id = ${workspaceId} ${beyond}`;
  const rows = await run<{ currencies: string }>(
    db,
    sql`
      with recursive held as (
        ${first(sql``)}
        union all
        select following.currencies from held
        cross join lateral (${first(sql`and m.currencies > held.currencies`)}) as following
        where held.currencies is not null)
      select currencies from held where currencies is not null limit ${MOST_STRETCHES + 1}`,
  );
  return rows.map(({ currencies }) => currencies);
}
