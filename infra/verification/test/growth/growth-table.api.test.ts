import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { withClient } from '../../../installation/databases.ts';
import { documentedTables, GROWTH_GUIDE } from './growth-table.ts';

let database: TestDatabase;
let tables: string[];

beforeAll(async () => {
  database = await createTestDatabase(
    ...APP_NAMES.map((app) => ({ ...APPS[app].schema, schema: APPS[app].schema.name })),
  );
  const { rows } = await withClient(database.adminUrl, async (client) =>
    client.query<{ name: string }>(
      `select relnamespace::regnamespace || '.' || relname as name from pg_class
       where relnamespace::regnamespace::text = any($1) and relkind in ('r', 'p') and not relispartition`,
      [APP_NAMES.map((app) => APPS[app].schema.name)],
    ),
  );
  tables = rows.map(({ name }) => name);
});
afterAll(async () => database.drop());

const WHAT_TO_DO = `add a row for each to the section Growth of ${GROWTH_GUIDE}: what it grows with, how many bytes a row
has, and what removes its rows; if nothing does, say why that is right, or add a periodic task`;

test('the guide says what every table grows with, and what removes its rows', () => {
  const documented = documentedTables();
  const missing = tables.filter((table) => !documented.some(({ name }) => name === table));
  expect({ missing: missing.toSorted(), 'what to do': WHAT_TO_DO }).toEqual({ missing: [], 'what to do': WHAT_TO_DO });
  expect(documented.map(({ name }) => name).toSorted()).toEqual(tables.toSorted());
  for (const { name, grows, removed } of documented) expect([name, grows, removed]).not.toContain('');
});
