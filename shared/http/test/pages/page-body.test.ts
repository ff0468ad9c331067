import { describe, expect, test } from '@jest/globals';
import { RequestWork, runForRequest } from '@tocsin/runtime';
import fc from '@tocsin/testing/fuzz';
import { buildPage, MAX_PAGE_BYTES } from '../../src/index.ts';
import { jsonPieces, withParsedJson } from '../../src/json/json-rows.ts';

interface Row {
  id: number;
  text: string;
}

/** Rows with texts of these lengths, and a list that begins after a cursor. */
function listOf(lengths: readonly number[], character = 'x') {
  const rows = lengths.map((length, index): Row => ({ id: index + 1, text: character.repeat(length) }));
  const page = async (limit: number, cursor = 0) =>
    buildPage({
      listed: rows.slice(cursor, cursor + limit + 1),
      limit,
      view: (row) => row,
      nextCursor: ({ id }) => String(id),
    });
  return { rows, page };
}

describe('a page', () => {
  test('has a next cursor only if there is a next page', async () => {
    const { rows, page } = listOf([1, 2, 3]);
    const first = await page(2);
    expect(first.rows.parse()).toEqual(rows.slice(0, 2));
    expect(first.pagination).toEqual({ limit: 2, has_more: true, next_cursor: '2' });
    const last = await page(2, 2);
    expect(last.rows.parse()).toEqual(rows.slice(2));
    expect(last.pagination).toEqual({ limit: 2, has_more: false });
    const none = await page(2, 3);
    expect(none.rows.parse()).toEqual([]);
    expect(none.pagination).toEqual({ limit: 2, has_more: false });
  });

  test('ends before the row that would make it too large, measured as JSON', async () => {
    // A control character has one byte, and six in JSON.
    const { page } = listOf(
      Array.from({ length: 100 }, () => 65_536),
      '\u0001',
    );
    const { rows, pagination } = await page(100);
    expect(rows.parse()).toHaveLength(10);
    expect(rows.bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
    expect(pagination).toEqual({ limit: 100, has_more: true, next_cursor: '10' });
  });

  test('has one row at least, however large', async () => {
    const { page } = listOf([MAX_PAGE_BYTES + 1, 1]);
    const { rows, pagination } = await page(100);
    expect(rows.parse().map(({ id }) => id)).toEqual([1]);
    expect(pagination).toEqual({ limit: 100, has_more: true, next_cursor: '1' });
  });

  test('continues where the last one ended: each row comes once, in order', async () => {
    const length = fc.oneof(
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 0, max: MAX_PAGE_BYTES / 2 }),
      fc.constant(MAX_PAGE_BYTES),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (lengths, limit) => {
        const { rows, page } = listOf(lengths);
        const seen: number[] = [];
        for (let cursor: string | undefined = '0'; cursor !== undefined;) {
          const part: Awaited<ReturnType<typeof page>> = await page(limit, Number(cursor));
          const shown = part.rows.parse();
          expect(shown.length <= 1 || part.rows.bytes <= MAX_PAGE_BYTES).toBe(true);
          seen.push(...shown.map(({ id }) => id));
          cursor = part.pagination.next_cursor;
        }
        expect(seen).toEqual(rows.map(({ id }) => id));
      }),
      { numRuns: 10 },
    );
  });

  test('reads hardly more than it shows, and skips rows that are gone', async () => {
    const { rows } = listOf(Array.from({ length: 10 }, () => MAX_PAGE_BYTES / 2));
    const read: number[] = [];
    const page = await buildPage({
      listed: rows,
      limit: 9,
      whole: function* (listed) {
        for (const row of listed) {
          read.push(row.id);
          yield row.id === 1 ? undefined : row;
        }
      },
      view: (row: Row) => row,
      nextCursor: ({ id }) => String(id),
    });
    expect(page.rows.parse().map(({ id }) => id)).toEqual([2]);
    expect(page.pagination.next_cursor).toBe('2');
    expect(read).toEqual([1, 2, 3]);
  });
});

test('pages with large rows are built one at a time for a workspace, and those of another do not wait', async () => {
  let building = 0;
  const hold = Promise.withResolvers<void>();
  const build = async (holder: number, row: () => Promise<void>) =>
    runForRequest(new RequestWork({ holder, readOnly: true, isClientGone: () => false }), async () =>
      buildPage({
        listed: [{ largeWeight: 1_000_000 }],
        limit: 1,
        whole: async function* (listed) {
          building += 1;
          await row();
          building -= 1;
          yield listed[0];
        },
        view: (shown) => shown,
        nextCursor: () => '',
      }),
    );
  const held = [1, 1, 1].map(async (holder) => build(holder, async () => hold.promise));
  const { rows } = await build(2, async () => undefined);
  expect(rows.parse()).toHaveLength(1);
  expect(building).toBe(1);
  hold.resolve();
  await Promise.all(held);
  expect(building).toBe(0);
});

test('a body with rows has the JSON of the same body with a list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary', maxLength: 20 })), async (texts) => {
      const { rows } = await buildPage({
        listed: texts,
        limit: 100,
        view: (text) => ({ text }),
        nextCursor: () => '',
      });
      const more = { 'a "name"': [1], missing: undefined, none: null };
      const list = texts.slice(0, 100).map((text) => ({ text }));
      const body = { things: rows, ...more };
      expect(Buffer.concat(jsonPieces(body)).toString()).toBe(JSON.stringify({ things: list, ...more }));
      expect(withParsedJson(body)).toEqual({ things: list, ...more });
    }),
    { numRuns: 50 },
  );
});
