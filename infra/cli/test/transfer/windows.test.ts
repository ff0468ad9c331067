import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { readChain, readWindow } from '../../src/transfer/windows.ts';

interface Row {
  id: string;
  at: number;
}

/** Reads a list of a source that shows a number of rows of each window, and may change between two pages. */
async function readAll(rows: Row[], { limit, reach, change }: { limit: number; reach: number; change?: () => void }) {
  const all: string[] = [];
  let largest = 0;
  const load = async ({ since, until, offset }: { since: number; until: number; offset: number }) => {
    const shown = rows.filter(({ at }) => at >= since && at < until);
    const page = { rows: shown.slice(offset, offset + limit), more: offset + limit < shown.length };
    largest = Math.max(largest, offset + limit);
    change?.();
    return page;
  };
  const window = { since: 0, until: 1_000_000, limit, reach, idOf: ({ id }: Row) => id, load };
  for await (const { id } of readWindow(window)) all.push(id);
  expect(largest).toBeLessThanOrEqual(reach);
  return new Set(all);
}

const times = fc.uniqueArray(fc.nat(999), { maxLength: 200 });
const toRows = (numbers: number[]): Row[] =>
  numbers.toSorted((one, other) => one - other).map((number) => ({ id: String(number), at: number * 1_000 }));

test('reads every row of a list that shows only some of a window', async () => {
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: 2, max: 20 }), fc.nat(40), async (numbers, limit, more) => {
      const rows = toRows(numbers);
      expect(await readAll(rows, { limit, reach: limit + more })).toEqual(new Set(rows.map(({ id }) => id)));
    }),
  );
});

test('misses no row when others go or come meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(times, fc.nat(8), fc.boolean(), fc.nat(199), async (numbers, page, goes, index) => {
      const rows = toRows(numbers);
      const stay = rows.filter((_, place) => place !== index).map(({ id }) => id);
      let count = 0;
      const change = () => {
        if (count === page && goes) rows.splice(index, 1);
        if (count === page && !goes) rows.unshift({ id: 'late', at: 0 });
        count += 1;
      };
      const read = await readAll(rows, { limit: 10, reach: 1_000, change });
      expect(stay.filter((id) => !read.has(id))).toEqual([]);
    }),
  );
});

test('gives up on a list that never stays, on more rows than a second can have, and on pages that go round', async () => {
  const rows = toRows(Array.from({ length: 100 }, (_, index) => index));
  const change = () => rows.unshift({ id: `new-${rows.length}`, at: 0 });
  await expect(readAll(rows, { limit: 10, reach: 10_000, change })).rejects.toThrow('changes faster');
  const dense = Array.from({ length: 100 }, (_, index) => ({ id: String(index), at: 500 }));
  await expect(readAll(dense, { limit: 10, reach: 50 })).rejects.toThrow('too many entries between');
  const readRound = async () => {
    for await (const row of readChain(async () => ({ rows: [1], next: 'same' }))) expect(row).toBe(1);
  };
  await expect(readRound()).rejects.toThrow('names itself');
});
