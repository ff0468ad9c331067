interface Ordered {
  id: number;
  revision: number;
  sort_order: number;
}

/**
 * What to change so that a row changes places with its neighbour, of rows in their order. The places are those that the
 * rows have; rows that share one get the next.
 */
export function movedOrders(
  rows: readonly Ordered[],
  from: number,
  by: -1 | 1,
): { id: number; revision: number; order: number }[] {
  const moved = rows.with(from, rows[from + by] as Ordered).with(from + by, rows[from] as Ordered);
  let last = -Infinity;
  return moved.flatMap(({ id, revision, sort_order: before }, index) => {
    last = Math.max(last + 1, rows[index]?.sort_order ?? before);
    return last === before ? [] : [{ id, revision, order: last }];
  });
}
