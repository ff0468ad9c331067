import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Knex, migrate, openDatabase } from '@tocsin/postgres';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { schema } from '../../../services/incident/src/schema.ts';
import { partitionTables } from '../partition-tables.ts';

const TABLES = schema.largest;
const WORKSPACES = 40;

/** Of all tables: columns, keys, indexes, statistics, sequences and grants, as PostgreSQL shows them. */
const CATALOGUE = `
  select 'column' as kind, attrelid::regclass::text as "table", attname as name,
    concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attgenerated, pg_get_expr(adbin, adrelid),
      col_description(attrelid, attnum), attnum) as definition
  from pg_attribute join pg_class on pg_class.oid = attrelid
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not relispartition
  union all select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(pg_constraint.oid)
  from pg_constraint join pg_class on pg_class.oid = conrelid
  where connamespace = current_schema()::regnamespace and conparentid = 0 and not relispartition
  union all select 'index', tablename, indexname, replace(indexdef, ' ON ONLY ', ' ON ')
  from pg_indexes join pg_class on relname = tablename and relnamespace = current_schema()::regnamespace
  where schemaname = current_schema() and not relispartition
  union all select 'statistics', stxrelid::regclass::text, stxname, pg_get_statisticsobjdef(pg_statistic_ext.oid)
  from pg_statistic_ext join pg_class on pg_class.oid = stxrelid
  where stxnamespace = current_schema()::regnamespace and not relispartition
  union all select 'sequence', refobjid::regclass::text, objid::regclass::text, refobjsubid::text
  from pg_depend where classid = 'pg_class'::regclass and deptype = 'a'
    and objid in (select oid from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace)
  union all select 'table', oid::regclass::text, '', concat_ws(' ', relacl, relowner::regrole, obj_description(oid))
  from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
  order by 1, 2, 3`;

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  // Not a template, which may have partitions.
  database = await createTestDatabase();
  const owner = { url: database.adminUrl, schema: 'incident' };
  await migrate({ ...owner, migrations: schema.migrations });
  knex = openDatabase({ ...owner, application: 'test', poolSize: 1 });
});
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

const rowsOf = async (text: string) => (await knex.raw<{ rows: Record<string, string>[] }>(text)).rows;

describe('a table is not partitioned', () => {
  let before: Record<string, string>[];
  beforeEach(async () => {
    before = await rowsOf(CATALOGUE);
  });

  test.each([
    ['there is none', 'nothing', 'there is no table nothing'],
    [
      'a key does not begin with the workspace',
      'outbox',
      'the table outbox has keys that do not begin with workspace_id',
    ],
    ['it has rows', 'mrr_currencies', 'the table mrr_currencies has rows'],
  ])('if %s, nor are others then', async (_why, table, message) => {
    await knex.raw(`insert into mrr_currencies values (1, 'EUR') on conflict do nothing`);
    await expect(partitionTables(knex, ['changelog', table], 4)).rejects.toThrow(message);
    expect(await rowsOf(CATALOGUE)).toEqual(before);
  });
});

test('partitioned tables are the same, and workspaces are spread over the partitions', async () => {
  const before = await rowsOf(CATALOGUE);
  await knex.raw('grant select on incidents to public');
  expect(await partitionTables(knex, TABLES, 4)).toEqual(TABLES);
  expect(await rowsOf(`select relacl::text from pg_class where relname = 'incidents'`)).toEqual([
    { relacl: expect.stringContaining('=r/') },
  ]);
  await knex.raw('revoke select on incidents from public');
  const after = await rowsOf(CATALOGUE);
  expect(after.filter(({ kind }) => kind !== 'table')).toEqual(before.filter(({ kind }) => kind !== 'table'));
  expect(await partitionTables(knex, TABLES, 4)).toEqual([]);

  await knex.raw(`
    insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
      customer_impact_status, created_at, created_by)
    select workspace, 1, 'x', 'sev1', 'manual', 'open', 'incident', 'unknown', now(), '1'
    from generate_series(1, ${WORKSPACES}) as workspace`);
  await knex.raw(`
    insert into changelog (workspace_id, incident_id, revision, actor, changed_at, changes)
    select workspace_id, id, 1, '1', now(), '[]' from incidents`);
  const partitions = (table: string) => [0, 1, 2, 3].map((number) => ({ name: `${table}_p0${number}` }));
  for (const table of ['incidents', 'changelog'])
    expect(await rowsOf(`select distinct tableoid::regclass::text as name from ${table} order by 1`)).toEqual(
      partitions(table),
    );
  expect(
    await rowsOf(`select stxrelid::regclass::text as name from pg_statistic_ext
      where stxrelid::regclass::text like 'incidents_p%' order by 1`),
  ).toEqual(partitions('incidents'));
  await knex.raw('delete from incidents where workspace_id = 1');
  expect(await rowsOf('select count(*)::integer as count from changelog')).toEqual([{ count: WORKSPACES - 1 }]);
  // A service knows a broken key by the beginning of its name.
  await expect(
    knex.raw(`
      insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
        customer_impact_status, created_at, created_by)
      values (2, 1, 'y', 'sev1', 'manual', 'open', 'incident', 'unknown', now(), '1')`),
  ).rejects.toThrow(/"incidents_by_number_p0\d"/);
});
