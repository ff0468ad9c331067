import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { movedOrders } from '../../console/src/settings/moved-orders.ts';

const rowsOf = (orders: readonly number[]) => orders.map((order, id) => ({ id, revision: 1, sort_order: order }));
/** The rows as a list has them after the changes. */
const listed = (orders: readonly number[], from: number, by: -1 | 1) => {
  const changes = new Map(movedOrders(rowsOf(orders), from, by).map(({ id, order }) => [id, order]));
  return rowsOf(orders)
    .map(({ id, sort_order: before }) => ({ id, order: changes.get(id) ?? before }))
    .sort((a, b) => a.order - b.order || a.id - b.id)
    .map(({ id }) => id);
};

describe('a field that is moved', () => {
  test('changes places with its neighbour, and nothing else changes', () => {
    expect(movedOrders(rowsOf([1, 2, 5]), 1, 1)).toEqual([
      { id: 2, revision: 1, order: 2 },
      { id: 1, revision: 1, order: 5 },
    ]);
    expect(listed([1, 2, 5], 2, -1)).toEqual([0, 2, 1]);
  });

  test('is where it was moved to, also if rows share a place', () => {
    const orders = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(orders, fc.nat(), (unsorted, number) => {
        const sorted = unsorted.toSorted((a, b) => a - b);
        const from = number % (sorted.length - 1);
        const ids = sorted.map((_, id) => id);
        expect(listed(sorted, from, 1)).toEqual(ids.with(from, from + 1).with(from + 1, from));
        expect(listed(sorted, from + 1, -1)).toEqual(ids.with(from, from + 1).with(from + 1, from));
      }),
    );
  });
});
