import { expect, test } from '@jest/globals';
import { type Listed, readWhole } from '../src/index.ts';

const MEBIBYTE = 1_048_576;

interface Row {
  id: number;
  text: string;
}

/** Rows with these weights; null stands for a row that is listed completely. */
const listOf = (...weights: (number | null)[]): Listed<Row>[] =>
  weights.map((largeWeight, index) => ({ id: index + 1, text: 'listed', largeWeight }));

async function read(listed: readonly Listed<Row>[], gone: readonly number[] = []) {
  const statements: number[][] = [];
  const rows: (string | undefined)[] = [];
  const whole = readWhole(listed, async (ids) => {
    statements.push(ids);
    // In no particular order.
    return ids
      .filter((id) => !gone.includes(id))
      .reverse()
      .map((id) => ({ id, text: `whole ${id}` }));
  });
  for await (const row of whole) rows.push(row && `${row.id} ${row.text}`);
  return { statements, rows };
}

test('rows that are listed completely are not read again', async () => {
  expect(await read(listOf(null, null))).toEqual({ statements: [], rows: ['1 listed', '2 listed'] });
  expect(await read([])).toEqual({ statements: [], rows: [] });
});

test('large rows are read in portions, in the order of the list', async () => {
  const listed = listOf(MEBIBYTE / 2, null, MEBIBYTE / 2, 6 * MEBIBYTE, 1, 1);
  expect(await read(listed)).toEqual({
    statements: [[1, 3], [4], [5, 6]],
    rows: ['1 whole 1', '2 listed', '3 whole 3', '4 whole 4', '5 whole 5', '6 whole 6'],
  });
});

test('a portion is only read when it is asked for', async () => {
  const statements: number[][] = [];
  const whole = readWhole(listOf(MEBIBYTE, MEBIBYTE, MEBIBYTE), async (ids) => {
    statements.push(ids);
    return ids.map((id) => ({ id, text: '' }));
  });
  for await (const row of whole) if (row?.id === 2) break;
  expect(statements).toEqual([[1], [2]]);
});

test('undefined stands for a row that is gone', async () => {
  expect((await read(listOf(1, 1, null), [1])).rows).toEqual([undefined, '2 whole 2', '3 listed']);
});
