import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Knex, listMigrations, migrate, openDatabase } from '@tocsin/postgres';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { withDatabase } from '../../../installation/databases.ts';
import { readSchemaBaseline } from '../../compat/schema-baseline.ts';
import { lastRelease } from '../../compat/last-release.ts';

let database: TestDatabase;
beforeAll(async () => (database = await createTestDatabase()));
afterAll(async () => database.drop());

const IN_SCHEMA = `c.relnamespace = current_schema()::regnamespace`;
const EXISTING = `select array_agg(c.oid) as oids from pg_class c where ${IN_SCHEMA}`;
/** Indexes that this transaction has built on tables that existed before it. */
const NEW_INDEXES = `
  select c.relname as name from pg_class c join pg_index x on x.indexrelid = c.oid
  where ${IN_SCHEMA} and c.oid <> all(cast(:oids as oid[])) and x.indrelid = any(cast(:oids as oid[])) order by 1`;
/** Tables that existed before this transaction, and that nobody else can read until it ends. */
const LOCKED = `
  select c.relname as name from pg_class c join pg_locks l on l.relation = c.oid and l.pid = pg_backend_pid()
  where ${IN_SCHEMA} and c.oid = any(cast(:oids as oid[])) and c.relkind in ('r', 'p') and l.mode = 'AccessExclusiveLock' order by 1`;

async function namesOf(trx: Knex, statement: string, oids: number[]): Promise<string[]> {
  const { rows } = await trx.raw<{ rows: { name: string }[] }>(statement, { oids });
  return rows.map(({ name }) => name);
}

/** Runs a migration; returns what other sessions would have to wait for. */
async function problemsOf(knex: Knex, file: string): Promise<string[]> {
  const { up, config } = (await import(pathToFileURL(file).href)) as {
    up(knex: Knex): Promise<void>;
    config?: { transaction?: boolean };
  };
  if (config?.transaction === false) {
    await up(knex);
    return [];
  }
  return knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: [{ oids: number[] }] }>(EXISTING);
    await up(trx);
    const indexes = await namesOf(trx, NEW_INDEXES, rows[0].oids);
    const locked = await namesOf(trx, LOCKED, rows[0].oids);
    return [
      ...indexes.map((name) => `builds the index ${name} while writers wait: use createIndexConcurrently`),
      ...(locked.length > 1 ? [`locks ${locked.join(' and ')}, one while it waits for the other: split it`] : []),
    ];
  });
}

/** Before the first release, no process runs that a migration could keep waiting; the end of the run's output counts it. */
const testSinceRelease = lastRelease() === undefined ? test.skip : test;

testSinceRelease('no migration since the last release lets the processes that run wait for long', async () => {
  const released = (await readSchemaBaseline())?.migrations ?? {};
  const problems: Record<string, string[]> = {};
  for (const app of APP_NAMES) {
    const { name: schema, migrations } = APPS[app].schema;
    const only = new Set(Object.keys(released[schema] ?? {}));
    await migrate({ url: database.adminUrl, schema, migrations, only });
    const opened = openDatabase({ url: database.adminUrl, schema, application: 'test', poolSize: 1 });
    await withDatabase(opened, async (knex) => {
      for (const name of await listMigrations(migrations)) {
        const file = `${name}.ts`;
        const found = only.has(file) ? [] : await problemsOf(knex, path.join(migrations, file));
        if (found.length > 0) problems[`${schema}/${file}`] = found;
      }
    });
  }
  expect(problems).toEqual({});
});
