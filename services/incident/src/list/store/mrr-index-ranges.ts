import { type Knex, query } from '@tocsin/postgres';
import type { ListFilters } from '../domain/list-filters.ts';
import { TOO_MANY, readCurrencies } from '../../incidents/store/impact-store.ts';
import { compare } from './filters.ts';
import type { IncidentQuery } from './query.ts';
import { all, join, type Sql, sql, statementOf } from '../../shared/store/sql.ts';

type MrrFilter = NonNullable<ListFilters['mrr']>;

/** A range of the index on `incident_mrr`: incidents with one set of currencies, by their amounts in one of these. */
interface IndexRange {
  currencies: string;
  currency: string;
  where: readonly Sql[];
}

/** Planning more ranges takes longer than the search saves. */
const MAX_RANGES = 100;

/**
 * Selects the incidents that meet the filter by revenue as `incident_id`, up to `limit` for each range of the index.
 * Undefined without such a filter, or if the index does not help.
 */
export async function revenueSearch(db: Knex, query: IncidentQuery, limit: number): Promise<Sql | undefined> {
  const { workspaceId, filters, conversions } = query;
  const { mrr } = filters;
  if (mrr === null) return undefined;
  const sets = await readCurrencySets(db, workspaceId);
  if (sets.length > MAX_RANGES || sets.includes(TOO_MANY)) return undefined;
  const factors = new Map(conversions.map(({ currency, factor }) => [currency, sql`${factor}::numeric`]));
  const ranges = sets.flatMap((currencies) => indexRanges(currencies, mrr, factors));
  if (ranges.length > MAX_RANGES) return undefined;
  const searches = ranges.map(({ currencies, currency, where }) => {
    const inSet = sql`m.workspace_id = ${workspaceId} and m.currencies = ${currencies} and m.currency = ${currency}`;
    return sql`(
      select m.incident_id from incident_mrr as m
      where ${all([inSet, ...where])}
      order by m.amount_minor
      limit ${limit})`;
  });
  return searches.length === 0 ? sql`select 0::bigint as incident_id where false` : join(searches, ' union all ');
}

/**
 * The distinct sets of currencies in the revenue of a workspace's incidents, up to `MAX_RANGES` + 1. Skips from one
 * set to the next in the index, which `select distinct` would read as a whole.
 */
async function readCurrencySets(db: Knex, workspaceId: number): Promise<string[]> {
  const first = (beyond: Sql) => sql`
    select min(m.currencies) as currencies from incident_mrr as m where m.workspace_id = ${workspaceId} ${beyond}`;
  const rows = await query<{ currencies: string }>(
    db,
    statementOf(sql`
      with recursive held as (
        ${first(sql``)}
        union all
        select following.currencies from held
        cross join lateral (${first(sql`and m.currencies > held.currencies`)}) as following
        where held.currencies is not null)
      select currencies from held where currencies is not null limit ${MAX_RANGES + 1}`),
  );
  return rows.map(({ currencies }) => currencies);
}

/**
 * The ranges with the incidents of one set of currencies that meet the filter. An incident may be in several ranges.
 */
function indexRanges(currencies: string, mrr: MrrFilter, factors: ReadonlyMap<string, Sql>): IndexRange[] {
  const { adding, idle } = readCurrencies(currencies);
  const { currency } = mrr;
  // The sum of the amounts in a currency that the incident does not have is 0.
  const rangesOfZero = isMetByZero(mrr) ? [{ currencies, currency: adding[0] ?? '', where: [] }] : [];
  if (currency !== null) {
    if (!adding.includes(currency)) return rangesOfZero;
    return [{ currencies, currency, where: [compare(sql`m.amount_minor`, mrr)] }];
  }
  if (![...adding, ...idle].every((each) => factors.has(each))) return [];
  if (adding.length === 0) return rangesOfZero;
  const addends = adding.map((each) => ({ currency: each, factor: factors.get(each) ?? sql`null` }));
  return convertedRanges(currencies, addends, mrr);
}

const isMetByZero = ({ operator, value }: MrrFilter) =>
  operator === '<' ? value > 0 : operator === '=' && value === 0;

interface Addend {
  currency: string;
  factor: Sql;
}

/**
 * The ranges for a sum of converted amounts. No amount is negative. So each converted amount is at most the sum; at
 * least one of n amounts is at least an nth of the sum; and the sum lies between the total times the lowest factor
 * and the total times the highest. Within these bounds the exact sum is compared. Amounts are whole numbers, and
 * Postgres computes quotients to so many digits that rounding them cannot exclude one.
 */
function convertedRanges(currencies: string, addends: readonly Addend[], mrr: MrrFilter): IndexRange[] {
  const factors = join(
    addends.map(({ factor }) => factor),
    ', ',
  );
  const total = bounds(sql`m.total_minor`, mrr, { least: sql`least(${factors})`, greatest: sql`greatest(${factors})` });
  return addends.map((addend) => {
    const { currency, factor } = addend;
    const share = { least: factor, greatest: sql`(${factor} * ${addends.length}::numeric)` };
    return {
      currencies,
      currency,
      where: [
        ...bounds(sql`m.amount_minor`, mrr, share),
        ...total,
        compare(sql`round(${sumOf(addends, addend)})`, mrr),
      ],
    };
  });
}

/**
 * The bounds of an amount that yields the compared sum when it is multiplied by a factor from `least` to `greatest`.
 */
function bounds(
  amount: Sql,
  { operator, value }: MrrFilter,
  { least, greatest }: { least: Sql; greatest: Sql },
): Sql[] {
  // The sum is rounded before it is compared, so half a unit of difference still counts as equal.
  const low = sql`${amount} >= (${value}::numeric - 0.5) / ${greatest}`;
  const high = sql`${amount} <= (${value}::numeric + 0.5) / ${least}`;
  return operator === '=' ? [low, high] : operator === '>' ? [low] : [high];
}

/** The converted sum. For up to two currencies the index alone has all that it takes. */
function sumOf(addends: readonly Addend[], { currency, factor }: Addend): Sql {
  const [other, third] = addends.filter((each) => each.currency !== currency);
  if (other === undefined) return sql`m.amount_minor * ${factor}`;
  if (third === undefined) return sql`m.amount_minor * ${factor} + (m.total_minor - m.amount_minor) * ${other.factor}`;
  const factors = addends.map((each) => sql`when ${each.currency} then ${each.factor}`);
  return sql`(
    select sum(part.amount_minor * case part.currency ${join(factors, ' ')} end)
    from incident_mrr as part where part.workspace_id = m.workspace_id and part.incident_id = m.incident_id)`;
}
