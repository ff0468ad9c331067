import type { ListFilters } from '../../domain/list-filters.ts';
import { readCurrencies } from '../mrr-parts.ts';
import { compare } from './compare.ts';
import { join, type Sql, sql } from './sql.ts';

type Wanted = NonNullable<ListFilters['mrr']>;

/** A stretch of the index: incidents with one set of currencies, by their amounts in one of these. */
export interface Stretch {
  currencies: string;
  currency: string;
  where: readonly Sql[];
}

/** Where the incidents with a set of currencies stand whose revenue is as it is wanted; some of them twice. */
export function stretchesOf(currencies: string, wanted: Wanted, factors: ReadonlyMap<string, Sql>): Stretch[] {
  const { adding, idle } = readCurrencies(currencies);
  const { currency } = wanted;
  // What is not told of is an amount of 0.
  const nothing = isMetByNothing(wanted) ? [{ currencies, currency: adding[0] ?? '', where: [] }] : [];
  if (currency !== null) {
    if (!adding.includes(currency)) return nothing;
    return [{ currencies, currency, where: [compare(sql`m.amount_minor`, wanted)] }];
  }
  if (![...adding, ...idle].every((each) => factors.has(each))) return [];
  if (adding.length === 0) return nothing;
  const addends = adding.map((each) => ({ currency: each, factor: factors.get(each) ?? sql`null` }));
  return convertedStretches(currencies, addends, wanted);
}

const isMetByNothing = ({ operator, value }: Wanted) =>
  operator === '<' ? value > 0 : operator === '=' && value === 0;

interface Addend {
  currency: string;
  factor: Sql;
}

/**
 * No amount is negative. So each, converted, is at most the sum; one of them is at least an equal share of it; and the sum
 * lies between the total at the lowest and at the highest factor. Only what that leaves is summed up. Amounts are whole,
 * and no quotient is rounded past a whole number: so nothing is lost by dividing.
 */
function convertedStretches(currencies: string, addends: readonly Addend[], wanted: Wanted): Stretch[] {
  const every = join(
    addends.map(({ factor }) => factor),
    ', ',
  );
  const total = bounds(sql`m.total_minor`, wanted, { least: sql`least(${every})`, greatest: sql`greatest(${every})` });
  return addends.map((addend) => {
    const { currency, factor } = addend;
    const share = { least: factor, greatest: sql`(${factor} * ${addends.length}::numeric)` };
    return {
      currencies,
      currency,
      where: [
        ...bounds(sql`m.amount_minor`, wanted, share),
        ...total,
        compare(sql`round(${sumOf(addends, addend)})`, wanted),
      ],
    };
  });
}

/** Between what something lies that makes the sum when it is multiplied by a factor that lies between two others. */
function bounds(what: Sql, { operator, value }: Wanted, { least, greatest }: { least: Sql; greatest: Sql }): Sql[] {
  // The sum is rounded before it is compared.
  const low = sql`${what} >= (${value}::numeric - 0.5) / ${greatest}`;
  const high = sql`${what} <= (${value}::numeric + 0.5) / ${least}`;
  return operator === '=' ? [low, high] : operator === '>' ? [low] : [high];
}

/** The converted sum, from the index alone unless there are more than two currencies. */
function sumOf(addends: readonly Addend[], { currency, factor }: Addend): Sql {
  const [other, third] = addends.filter((each) => each.currency !== currency);
  if (other === undefined) return sql`m.amount_minor * ${factor}`;
  if (third === undefined) return sql`m.amount_minor * ${factor} + (m.total_minor - m.amount_minor) * ${other.factor}`;
  const factors = addends.map((each) => sql`when ${each.currency} then ${each.factor}`);
  return sql`(
    select sum(part.amount_minor * case part.currency ${join(factors, ' ')} end)
    from incident_mrr as part where part.incident_id = m.incident_id)`;
}
