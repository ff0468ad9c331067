import { expect, test } from '@jest/globals';
import { openDatabase, query } from '@tocsin/postgres';
import { eventually, testServers } from '@tocsin/testing';
import { findEvents } from '../../src/transfer/store/import-store.ts';
import { serviceForFile } from '../service.ts';
import { aField } from '../snapshots.ts';
import { anEvent, anItem, transferWorkspace } from './transfer.ts';

const service = await serviceForFile();

const FIELDS = [
  aField(501, { slug: 'tags', name: 'Tags', field_type: 'multi_select', config: { options: ['a', 'b', 'rare'] } }),
  aField(502, { slug: 'flag', name: 'Flag', field_type: 'boolean' }),
  aField(503, { slug: 'kind', name: 'Kind', field_type: 'select', config: { options: ['x', 'y', 'z'] } }),
  aField(504, { slug: 'day', name: 'Day', field_type: 'date' }),
];

const filter = (slug: string, operator: string, value: unknown) =>
  `custom_filter=${encodeURIComponent(JSON.stringify({ slug, operator, value }))}`;

interface PlanNode {
  'Actual Loops': number;
  Plans?: PlanNode[];
}

test('a session that has planned while there were no events looks up each name of an import once', async () => {
  const session = openDatabase({
    ...{ url: service.database.url('incident'), schema: 'incident', application: 'test', poolSize: 1 },
  });
  const { id, results } = await transferWorkspace(service);
  await query(session, { text: 'set plan_cache_mode = force_generic_plan' });
  await query(session, { text: `prepare named as ${findEvents(id, []).text}` });
  await query(session, { text: `execute named(${id}, '{}', '{}', '{}', '{}')` });

  const names = Array.from({ length: 300 }, (_, index) => `event-${index}`);
  const item = anItem('large', { timeline: names.map((name) => anEvent(name)) });
  const [created] = await results(item);
  const listOf = (values: readonly unknown[]) => `'{${values.join(',')}}'`;
  const [ids, texts, none] = [created.incident_id, 'text', 'null'].map((value) => listOf(names.map(() => value)));
  const [explained] = await query<{ 'QUERY PLAN': [{ Plan: PlanNode & { 'Actual Rows': number } }] }>(session, {
    text: `explain (analyze, timing off, format json) execute named(${id}, ${ids}, ${listOf(names)}, ${texts}, ${none})`,
  });
  await session.destroy();
  const loopsOf = (node: PlanNode): number => Math.max(node['Actual Loops'], ...(node.Plans ?? []).map(loopsOf));
  const plan = explained?.['QUERY PLAN'][0].Plan;
  expect(plan).toMatchObject({ 'Actual Rows': names.length });
  expect(loopsOf(plan as PlanNode)).toBe(names.length);
});

test('an import has its tables analysed, and lists work without statistics, too', async () => {
  const { rows: tables } = await service.knex.raw<{ rows: { name: string }[] }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace",
  );
  // As long as autovacuum has not come by.
  for (const { name } of tables) await service.knex.raw(`alter table ${name} set (autovacuum_enabled = false)`);
  const { id, client, send } = await transferWorkspace(service);
  await service.owners.change(id, (data) => void (data.fields = FIELDS));
  const item = (index: number) =>
    anItem(String(index), {
      service: ['', 'a', 'b'][index % 3],
      values: {
        tags: [['a'], ['b', 'a'], []][index % 3],
        flag: index % 2 === 0,
        kind: ['x', 'y', 'z'][index % 3],
        day: '2026-02-28',
      },
    });
  for (let start = 0; start < 2_000; start += 50) {
    const { status, body } = await send(...Array.from({ length: 50 }, (_, index) => item(start + index)));
    expect([status, body.results[0].outcome]).toEqual([200, 'created']);
  }
  const analysed = async () => {
    const { rows } = await service.knex.raw<{ rows: { count: number }[] }>(
      "select reltuples::int as count from pg_class where oid in ('incidents'::regclass, 'incident_values'::regclass)",
    );
    return rows.every(({ count }) => count >= 1_000);
  };
  await eventually(analysed, { what: 'statistics of what was imported' });
  const queries = [
    [
      filter('tags', 'includes_any', ['rare']),
      filter('day', 'before', '0001-01-01'),
      'sort=custom&sort_custom_field=flag',
    ],
    [
      'service=a',
      filter('tags', 'excludes', ['b', 'rare']),
      filter('flag', 'is', false),
      'sort=custom&sort_custom_field=kind',
    ],
    [filter('tags', 'includes_all', ['rare']), filter('kind', 'is', 'x'), 'sort=service'],
  ];
  const statuses = async () =>
    Promise.all(queries.map(async (query) => (await client.get(`/api/v1/incidents?${query.join('&')}`)).status));

  // As after a load that no import has made.
  const { rows } = await service.knex.raw<{ rows: { name: string }[] }>('select current_database() as name');
  const url = new URL(testServers().databaseUrl);
  url.pathname = `/${rows[0]?.name}`;
  const administrator = openDatabase({ url: url.href, schema: 'incident', application: 'test', poolSize: 1 });
  await administrator.raw(
    "delete from pg_statistic where starelid in ('incidents'::regclass, 'incident_values'::regclass)",
  );
  await administrator.raw(
    "update pg_class set reltuples = -1, relpages = 0 where oid in ('incidents'::regclass, 'incident_values'::regclass)",
  );
  await administrator.destroy();
  expect(await statuses()).toEqual([200, 200, 200]);
});
