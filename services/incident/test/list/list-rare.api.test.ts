import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { CustomFieldDefinition } from '@tocsin/schemas';
import { pipeline } from '@tocsin/postgres';
import { impactStore } from '../../src/incidents/store/impact-store.ts';
import { valueStatements } from '../../src/values/store/value-store.ts';
import { configure } from '../configure.ts';
import { freshWorkspace, type Workspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

/** Filters that few incidents meet, and filters that more than 3,000 meet, for which no IDs are looked up. */
const NOW = '2026-11-20T12:00:00.000Z';
const RATES = { EUR: 1.085, JPY: 0.0066 };
const TOTAL = 3_100;

const service = await serviceForFile();
const { knex: database } = service;

async function configured(): Promise<Workspace> {
  const workspace = freshWorkspace(service);
  const rates = Object.entries(RATES).map(([currency, rate]) => ({ currency, rate, as_of: NOW }));
  await configure(database, workspace.id, { exchange_rates: rates });
  return workspace;
}

type Query = Record<string, string | number | object>;

/** Sorted by number, which identifies the incidents. */
const searchOf = (query: Query) =>
  new URLSearchParams({
    sort: 'case',
    direction: 'asc',
    ...Object.fromEntries(
      Object.entries(query).map(([name, value]) => [
        name,
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]),
    ),
  });

const pageOf = async ({ client }: Workspace, query: Query) => {
  const { status, body } = await client.get(`/api/v1/incidents?${searchOf(query).toString()}`);
  expect(status).toBe(200);
  return body;
};

const numbersOf = (page: { incidents: { human_id: string }[] }) =>
  page.incidents.map(({ human_id }) => Number(human_id.slice('INC-'.length)));

const matches = async (workspace: Workspace, query: Query) =>
  numbersOf(await pageOf(workspace, { ...query, limit: 100 }));

const contains = (value: string) => ({ custom_filter: { slug: 'note', operator: 'contains', value } });
const mrr = (operator: string, value: number, currency?: string): Query => ({
  mrr_op: operator,
  mrr_value: value,
  ...(currency !== undefined && { mrr_basis: 'source', mrr_currency: currency }),
});

/** Adds incidents 1 to 3,100, every 500th of them closed, with texts and with revenue that depends on the number. */
async function fill(workspace: Workspace, field: CustomFieldDefinition): Promise<void> {
  const { rows } = await database.raw<{ rows: { id: number; number: number }[] }>(
    `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
       customer_impact_status, created_at, created_by)
     select ?, n, 'x', 'sev3', 'manual', case when n % 500 = 0 then 'closed' else 'open' end, 'incident', 'unknown', ?, '42'
     from generate_series(1, ?::int) as n returning id, number`,
    [workspace.id, NOW, TOTAL],
  );
  await database.transaction(async (trx) => {
    for (const { id, number } of rows) {
      const value = `Anything, ${number % 2 === 0 ? 'even' : 'odd'}: ${number}.`;
      const values = [{ field, value }];
      await pipeline(trx, valueStatements(workspace.id, [{ incidentId: id, values, at: NOW, by: '42' }]));
      const mrr = [
        { currency: 'USD', amount_minor: number },
        { currency: 'EUR', amount_minor: number % 3 === 0 ? number : 0 },
      ];
      await impactStore(trx, workspace.id).put(id, { affectedCustomers: 1, mrr, asOf: NOW });
    }
  });
}

describe('among thousands of incidents', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = await configured();
    await fill(workspace, await workspace.define({ slug: 'note' }));
  });

  const closed = (query: Query): Query => ({ ...query, status: 'closed' });
  const EVERY_500TH = [500, 1_000, 1_500, 2_000, 2_500, 3_000];

  test.each([
    ['nothing', contains('nobody'), []],
    ['nothing, although all of its letters occur', contains('nevo'), []],
    ['one', contains(': 2718.'), [2718]],
    ['one, in another case', contains('EVEN: 2718'), [2718]],
    ['a few', contains('999.'), [999, 1999, 2999]],
    ['half', closed(contains('even')), EVERY_500TH],
    ['all', closed(contains('anything')), EVERY_500TH],
    ['all, for an empty text', closed(contains('')), EVERY_500TH],
  ])('filters by text find %s', async (_many, query, numbers) => {
    expect(await matches(workspace, query)).toEqual(numbers);
  });

  test.each([
    ['one currency', mrr('=', 2_701), [2_701]],
    ['two currencies', mrr('=', 2_502), [1_200]],
    ['the highest sums', mrr('>', 6_445), [3_093, 3_096, 3_099]],
    ['the lowest sums', mrr('<', 4), [1, 2]],
    ['more than there is', mrr('>', 9_000_000_000_000_000), []],
    ['any', closed(mrr('>', 0)), EVERY_500TH],
    ['one amount', mrr('=', 2_703, 'EUR'), [2_703]],
    ['no amount', closed(mrr('=', 0, 'EUR')), [500, 1_000, 2_000, 2_500]],
    ['high amounts', mrr('>', 3_098, 'USD'), [3_099, 3_100]],
    ['low amounts', closed(mrr('<', 1_600, 'EUR')), [500, 1_000, 1_500, 2_000, 2_500]],
  ])('filters by revenue find %s', async (_what, query, numbers) => {
    expect(await matches(workspace, query)).toEqual(numbers);
  });

  test('rare filters work together, with counts, and over several pages', async () => {
    const both = { ...contains('odd'), ...mrr('<', 12) };
    // The sums of 3, 6 and 9 are higher, because they have two currencies.
    expect(await matches(workspace, both)).toEqual([1, 3, 5, 7, 11]);
    const first = await pageOf(workspace, { ...both, limit: 2, include_counts: 'true' });
    expect(first.collection_counts.matched).toBe(5);
    const second = await pageOf(workspace, { ...both, limit: 2, cursor: first.next_cursor });
    expect([first, second].map(numbersOf)).toEqual([
      [1, 3],
      [5, 7],
    ]);
  });
});

describe('a search', () => {
  test('finds the current value', async () => {
    const workspace = await configured();
    await workspace.define({ slug: 'note' });
    const path = await workspace.declare({ note: 'Grüße aus Köln' });
    expect(await matches(workspace, contains('KÖLN'))).toEqual([1]);
    await workspace.client.patch(`${path}/custom-fields`, { values: [{ slug: 'note', value: 'Grüße aus Bonn' }] });
    expect(await matches(workspace, contains('köln'))).toEqual([]);
    expect(await matches(workspace, contains('bonn'))).toEqual([1]);
    await workspace.client.patch(`${path}/custom-fields`, { values: [{ slug: 'note', value: null }] });
    expect(await matches(workspace, contains('bonn'))).toEqual([]);
  });

  test('finds the latest revenue, in any currencies', async () => {
    const workspace = await configured();
    const path = await workspace.declare();
    const publish = async (second: number, amounts: Record<string, number>) => {
      const data = {
        workspace_id: workspace.id,
        incident_id: Number(path.split('/').at(-1)),
        affected_customers: 1,
        mrr: Object.entries(amounts).map(([currency, amount_minor]) => ({ currency, amount_minor })),
        as_of: new Date(Date.parse(NOW) + second * 1_000).toISOString(),
      };
      const [id, type] = [randomUUID(), 'customer-impact.updated'];
      const about = { id: workspace.id, slug: 'acme', is_demo: false };
      const body = { id, type, schema_version: 1, occurred_at: NOW, workspace: about, request_id: null, data };
      await service.broker.publish([{ id, type, body: JSON.stringify(body) }]);
    };
    // 100 + 108.5 + 66, rounded
    await publish(0, { USD: 100, EUR: 100, JPY: 100 });
    expect(await matches(workspace, mrr('=', 275))).toEqual([1]);
    expect(await matches(workspace, mrr('=', 274))).toEqual([]);
    await publish(2, { EUR: 100 });
    await publish(1, { USD: 7 });
    expect(await matches(workspace, mrr('=', 109))).toEqual([1]);
    expect(await matches(workspace, mrr('=', 275))).toEqual([]);
    expect(await matches(workspace, mrr('=', 0, 'USD'))).toEqual([1]);
    // There is no sum unless every currency has a rate.
    await publish(3, { EUR: 100, GBP: 0 });
    expect(await matches(workspace, mrr('=', 109))).toEqual([]);
    expect(await matches(workspace, mrr('=', 100, 'EUR'))).toEqual([1]);
    await publish(4, {});
    expect(await matches(workspace, mrr('<', 1))).toEqual([1]);
    const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    const many = letters.flatMap((one) => letters.map((other) => [`Q${one}${other}`, 5]));
    await publish(5, { ...Object.fromEntries(many), EUR: 9 });
    expect(await matches(workspace, mrr('=', 9, 'EUR'))).toEqual([1]);
    expect(await matches(workspace, mrr('=', 8, 'EUR'))).toEqual([]);
    expect(await matches(workspace, mrr('>', 0))).toEqual([]);
  });
});
