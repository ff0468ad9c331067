import { beforeAll, describe, expect, test } from '@jest/globals';
import { pipeline } from '@tocsin/postgres';
import { refusal } from '@tocsin/testing';
import { valueStatements } from '../../src/values/store/value-store.ts';
import { freshWorkspace, type Workspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

/** Values of this size cannot be written any more, but may be stored. */
const LARGE = 'a'.repeat(100_000);
const NOW = '2026-11-20T12:00:00.000Z';

/** Has incidents 1 to 400, of which every tenth is closed, each with a large text that ends with its number. */
const service = await serviceForFile();
const { knex: database } = service;
const workspace = freshWorkspace(service);
const field = await workspace.define({ slug: 'note' });
const { rows } = await database.raw<{ rows: { id: number; number: number }[] }>(
  `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
     customer_impact_status, created_at, created_by)
   select ?, n, 'x', 'sev' || 1 + n % 2, 'manual', case when n % 10 = 0 then 'closed' else 'open' end, 'incident', 'unknown',
     ?::timestamptz - n * interval '1 day', '42'
   from generate_series(1, 400) as n returning id, number`,
  [workspace.id, NOW],
);
await database.transaction(async (trx) => {
  for (const { id, number } of rows) {
    const values = [{ field, value: `${LARGE} ${number}.` }];
    await pipeline(trx, valueStatements(workspace.id, [{ incidentId: id, values, at: NOW, by: '42' }]));
  }
});

const contains = (value: string) => JSON.stringify({ slug: 'note', operator: 'contains', value });

interface Page {
  numbers: number[];
  body: { has_more: boolean; next_cursor?: string; restricted_count?: number; history_limited: boolean };
}

async function pagesOf(query: Record<string, string>): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined; pages.length < 100;) {
    const search = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
    const { status, body } = await workspace.client.get(`/api/v1/incidents?${search.toString()}`);
    expect(status).toBe(200);
    expect(body.has_more).toBe(body.next_cursor !== undefined);
    const numbers = body.incidents.map(({ human_id }: { human_id: string }) => Number(human_id.slice('INC-'.length)));
    pages.push({ numbers, body });
    cursor = body.next_cursor;
    if (cursor === undefined) break;
  }
  return pages;
}

describe('a search of more text than a page may compare', () => {
  const searched = `${'a'.repeat(100)} 37`;

  test.each([
    [{ sort: 'case', direction: 'asc' }, [37, 370, 371, 372, 373, 374, 375, 376, 377, 378, 379]],
    [{ sort: 'case', direction: 'desc' }, [379, 378, 377, 376, 375, 374, 373, 372, 371, 370, 37]],
    [{ sort: 'severity', direction: 'asc' }, [37, 371, 373, 375, 377, 379, 370, 372, 374, 376, 378]],
    [{ sort: 'case', direction: 'asc', status: 'closed' }, [370]],
  ])('ends pages early and finds every incident once, sorted by %j', async (query, expected) => {
    const pages = await pagesOf({ ...query, custom_filter: contains(searched) });
    expect(pages.flatMap(({ numbers }) => numbers)).toEqual(expected);
    if (!('status' in query)) expect(pages.length).toBeGreaterThan(4);
  });

  test('has full pages where many incidents match', async () => {
    const query = { sort: 'case', direction: 'asc', limit: '7', custom_filter: contains(`${'a'.repeat(100)} `) };
    const [first] = await pagesOf(query);
    expect(first?.numbers).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('is not counted', async () => {
    const search = new URLSearchParams({ include_counts: 'true', custom_filter: contains(searched) });
    const refused = await workspace.client.get(`/api/v1/incidents?${search.toString()}`);
    expect(refused).toMatchObject(refusal(400, 'invalid_request', { field: 'include_counts' }));
  });
});

test('counts are exact as long as the texts that may match are not too large', async () => {
  const field = await workspace.define({ slug: 'short' });
  const { rows } = await database.raw<{ rows: { id: number; number: number }[] }>(
    'select id, number from incidents where workspace_id = ?',
    [workspace.id],
  );
  await database.transaction(async (trx) => {
    for (const { id, number } of rows) {
      const value = `${number % 3 === 0 ? 'third' : 'other'} ${'b'.repeat(3_000)}`;
      const values = [{ field, value }];
      await pipeline(trx, valueStatements(workspace.id, [{ incidentId: id, values, at: NOW, by: '42' }]));
    }
  });
  const custom_filter = JSON.stringify({ slug: 'short', operator: 'contains', value: 'third bbbbbb' });
  const search = new URLSearchParams({ include_counts: 'true', limit: '1', custom_filter });
  const { body } = await workspace.client.get(`/api/v1/incidents?${search.toString()}`);
  expect(body.collection_counts).toMatchObject({ matched: 133, by_status: { closed: 13, open: 120 } });
});

describe('filters by more options than the index serves', () => {
  const LONG = 'x'.repeat(150);
  /** Options 0 to 19, one with a beginning that is too long for the index, and another with the same beginning. */
  const operands = [...Array.from({ length: 20 }, (_, index) => `option ${index}`), `${LONG} a`];
  const values: Record<number, string[]> = {
    1: ['other'],
    2: ['option 3', 'other'],
    3: operands,
    4: [...operands.slice(0, 20), `${LONG} b`],
    5: [`${LONG} b`],
    6: [],
  };
  let own: Workspace;
  beforeAll(async () => {
    own = freshWorkspace(service);
    await own.define({ slug: 'places', field_type: 'multi_select', config: { allow_custom: true } });
    for (const places of Object.values(values)) await own.declare({ places });
    await own.declare();
  });

  test.each([
    ['includes_any', [2, 3, 4]],
    ['includes_all', [3]],
    ['excludes', [1, 5, 6, 7]],
  ])('%s', async (operator, expected) => {
    const custom_filter = JSON.stringify({ slug: 'places', operator, value: operands });
    const search = new URLSearchParams({ sort: 'case', direction: 'asc', include_counts: 'true', custom_filter });
    const { status, body } = await own.client.get(`/api/v1/incidents?${search.toString()}`);
    expect(status).toBe(200);
    const numbers = body.incidents.map(({ human_id }: { human_id: string }) => Number(human_id.slice('INC-'.length)));
    expect(numbers).toEqual(expected);
    expect(body.collection_counts.matched).toBe(expected.length);
  });
});
