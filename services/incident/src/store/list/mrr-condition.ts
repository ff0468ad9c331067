import type { Conversion } from '../../domain/exchange.ts';
import type { ListFilters } from '../../domain/list-filters.ts';
import { compare } from './compare.ts';
import { join, type Sql, sql } from './sql.ts';

/**
 * Compares the revenue at stake. An incident of which nothing was told meets no condition, and neither does, converted,
 * one with an amount that cannot be; the sum of no amounts is 0. Who was told of revenue was told of customers, for which
 * there is an index.
 */
export function mrrCondition(wanted: NonNullable<ListFilters['mrr']>, conversions: readonly Conversion[]): Sql {
  const factors = conversions.map(({ currency, factor }) => sql`when ${currency} then ${factor}::numeric`);
  const sum =
    wanted.currency === null
      ? sql`(select case when count(*) = count(factor)
              then coalesce(round(sum((told ->> 'amount_minor')::numeric * factor)), 0) end
            from jsonb_array_elements(i.mrr) as told
            cross join lateral (select case told ->> 'currency' ${join(factors, ' ')} end as factor) as converted)`
      : sql`(select coalesce(sum((told ->> 'amount_minor')::numeric), 0)
            from jsonb_array_elements(i.mrr) as told where told ->> 'currency' = ${wanted.currency})`;
  // Said so, Postgres expects that half of them meet it, and walks along the order: the few that it can find are looked up.
  return sql`(i.affected_customers is not null and i.mrr is not null and coalesce(${compare(sum, wanted)}, false))`;
}
