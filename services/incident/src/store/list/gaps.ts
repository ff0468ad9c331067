import type { Direction } from '../../domain/list-sort.ts';
import { INDEXED_TEXT } from './custom-conditions.ts';
import { all, sql } from './sql.ts';
import { after, orderBy, type Source, type Step } from './steps.ts';

/** After every text that is indexed. */
const LAST = '\u{10FFFF}'.repeat(129);

/**
 * In the order of texts, those left out that stand in a list: range by range between them, for most of what there is may be
 * what is left out.
 * @param left in ascending order
 */
export function textsBetween(left: readonly string[], direction: Direction, source: Required<Source>): Step {
  const { from, where, tie } = source;
  const order = orderBy([sql`key_0`, sql`tie`], direction);
  return {
    keys: 1,
    order,
    statement: ({ conditions, after: place, limit }) => sql`
      select hit.id, hit.tie, hit.key_0
      from unnest(${['', ...left]}::text[], ${[...left, LAST]}::text[]) as gap(low, high)
      cross join lateral (
        select i.id, ${tie} as tie, ${INDEXED_TEXT} as key_0
        from ${from}
        where ${all([
          ...conditions,
          ...where,
          sql`${INDEXED_TEXT} > gap.low and ${INDEXED_TEXT} < gap.high`,
          ...(place === undefined ? [] : [after(direction, [INDEXED_TEXT, tie], place)]),
        ])}
        order by ${orderBy([INDEXED_TEXT, tie], direction)}
        limit ${limit}) as hit
      order by ${order}
      limit ${limit}`,
    keysOf: (columns) => columns,
  };
}
