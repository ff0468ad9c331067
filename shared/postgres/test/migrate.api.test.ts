import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, eventually, type TestDatabase } from '@tocsin/testing';
import pg from 'pg';
import { migrate, type MigrationOptions } from '../src/index.ts';

let database: TestDatabase;
let admin: pg.Client;
let folder: string;
const sessions: pg.Client[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  admin = await session('test-admin');
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-migrations-'));
});
afterEach(async () => {
  for (const client of sessions.splice(0)) await client.end();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function session(application: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.adminUrl, application_name: application });
  await client.connect();
  sessions.push(client);
  return client;
}

/** A session that has read a table, and whose transaction is still open, as that of `pg_dump`. */
async function openReader(): Promise<pg.Client> {
  const client = await session('test-reader');
  await client.query('begin isolation level repeatable read');
  await client.query('select count(*) from shop.things');
  return client;
}

const INDEX = new URL('../src/index.ts', import.meta.url).href;

/** Writes a migration of one statement. */
const add = async (name: string, statement: string) =>
  writeFile(
    path.join(folder, `${name}.ts`),
    `export const up = async (knex) => { await knex.raw(\`${statement}\`); };`,
  );

const addIndex = async (name: string, index: { name: string; on: string; unique?: boolean }) =>
  writeFile(
    path.join(folder, `${name}.ts`),
    `import { createIndexConcurrently } from '${INDEX}';
     export const config = { transaction: false };
     export const up = async (knex) => createIndexConcurrently(knex, ${JSON.stringify(index)});`,
  );

const owner = () => ({ url: database.adminUrl, schema: 'shop', migrations: folder });
const run = async (options: MigrationOptions = {}) =>
  migrate(owner(), {
    ...options,
    waits: { lock: 100, pause: 10, longestPause: 20, attempts: 1_000, ...options.waits },
  });

const names = async (): Promise<string[]> =>
  (await admin.query('select name from shop.migrations order by id')).rows.map(({ name }) => name);
const columns = async (): Promise<string[]> =>
  (
    await admin.query(
      `select column_name from information_schema.columns
       where table_schema = 'shop' and table_name = 'things' order by ordinal_position`,
    )
  ).rows.map((row) => row.column_name);
const isValid = async (index: string): Promise<boolean | undefined> =>
  (await admin.query('select indisvalid from pg_index where indexrelid = to_regclass($1)', [`shop.${index}`])).rows[0]
    ?.indisvalid;

/** How many sessions wait for a lock of a table. */
const waiting = async (): Promise<number> => {
  const locks = `select count(*)::int as count from pg_locks where not granted and relation = 'shop.things'::regclass`;
  return (await admin.query<{ count: number }>(locks)).rows[0]?.count ?? 0;
};

describe('a migration of a table that a long transaction has read', () => {
  beforeEach(async () => {
    await add('1_create', 'create table things (id bigint primary key)');
    await run();
    await add('2_alter', 'alter table things add column name text');
  });

  test('lets the requests behind it pass between its attempts, and says once what it waits for', async () => {
    const reader = await openReader();
    const messages: string[] = [];
    const running = run({ onWait: (message) => messages.push(message) });
    await eventually(() => messages.length > 0);
    // Each of these would wait for the reader, too, behind a migration that does not give up.
    for (let count = 0; count < 20; count += 1) await admin.query('select count(*) from shop.things');
    expect(await columns()).toEqual(['id']);
    await reader.query('commit');
    expect(await running).toEqual(['2_alter']);
    expect(await columns()).toEqual(['id', 'name']);
    const { processID: pid } = reader as pg.Client & { processID: number };
    // Another message only if others are in the way, too: on a busy machine one of the requests.
    expect(messages.filter((message, index) => message === messages[index - 1])).toEqual([]);
    for (const message of messages) {
      expect(message).toMatch(/^2_alter waits for session \d+ \(.*; trying again$/);
      expect(message).toMatch(
        new RegExp(
          String.raw`session ${pid} \(test-reader, role \w+\), whose transaction has been open for at least \d+ s`,
        ),
      );
    }
  });

  test('gives up after its attempts, and names the session', async () => {
    const reader = await openReader();
    await expect(run({ waits: { lock: 500, attempts: 2 } })).rejects.toThrow(
      /^2_alter waits for session \d+ \(test-reader, role \w+\), .* Wait for its end, or end it, and migrate again$/,
    );
    await reader.query('commit');
    expect([await names(), await columns()]).toEqual([['1_create'], ['id']]);
    expect(await run()).toEqual(['2_alter']);
  });

  test('names a session whose transaction this role may not see', async () => {
    const role = `tocsin_test_${randomBytes(4).toString('hex')}`;
    await admin.query(`create role ${role} login`);
    try {
      for (const object of ['schema shop', 'table shop.things', 'table shop.migrations']) {
        await admin.query(`alter ${object} owner to ${role}`);
      }
      const url = new URL(database.adminUrl);
      url.username = role;
      const reader = await openReader();
      const waits = { lock: 500, pause: 10, attempts: 2 };
      await expect(migrate({ ...owner(), url: url.href }, { waits })).rejects.toThrow(
        /session \d+ \(test-reader, role \w+\), whose transaction has been open for at least \d+ s/,
      );
      await reader.query('commit');
    } finally {
      await admin.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
    }
  });
});

test('what has finished before a failure stays, and the next run continues behind it', async () => {
  await add('1_create', 'create table things (id bigint primary key)');
  await add('2_fail', 'alter table things add column name text; select 1 / 0');
  await add('3_alter', 'alter table things add column size integer');
  await expect(run()).rejects.toThrow('division by zero');
  expect([await names(), await columns()]).toEqual([['1_create'], ['id']]);
  await add('2_mend', 'alter table things add column name text');
  await rm(path.join(folder, '2_fail.ts'));
  expect(await run()).toEqual(['2_mend', '3_alter']);
  expect(await columns()).toEqual(['id', 'name', 'size']);
});

test('a schema of a later release is refused', async () => {
  await add('1_create', 'create table things (id bigint primary key)');
  await run();
  await rm(path.join(folder, '1_create.ts'));
  await expect(run()).rejects.toThrow('the schema is of a later release (1_create): use its code');
});

test('the table of an earlier runner is continued', async () => {
  await admin.query(`
    create schema shop; create table shop.things (id bigint primary key);
    create table shop.migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);
    create table shop.migrations_lock (index serial primary key, is_locked integer);
    insert into shop.migrations (name, batch, migration_time) values ('1_create', 1, now());
    insert into shop.migrations_lock (is_locked) values (1)`);
  await add('1_create', 'create table things (id bigint primary key)');
  await add('2_alter', 'alter table things add column name text');
  expect(await run()).toEqual(['2_alter']);
  expect(await names()).toEqual(['1_create', '2_alter']);
});

describe('an index', () => {
  beforeEach(async () => {
    await add('1_create', 'create table things (id bigint primary key, name text)');
    await run();
    await admin.query(`insert into shop.things select n, 'name ' || n from generate_series(1, 1000) n`);
  });

  test('is built while others read and write', async () => {
    const reader = await openReader();
    await addIndex('2_index', { name: 'things_name', on: 'things (name)' });
    const running = run();
    // The build waits for the reader.
    await eventually(async () => (await isValid('things_name')) === false);
    await admin.query(`insert into shop.things values (0, 'new')`);
    await reader.query('commit');
    expect(await running).toEqual(['2_index']);
    expect(await isValid('things_name')).toBe(true);
  });

  test('that failed is dropped and built again', async () => {
    await admin.query(`insert into shop.things values (0, 'name 1')`);
    await addIndex('2_index', { name: 'things_name', on: 'things (name)', unique: true });
    await expect(run()).rejects.toThrow('could not create unique index');
    expect([await names(), await isValid('things_name')]).toEqual([['1_create'], false]);
    await admin.query('delete from shop.things where id = 0');
    expect(await run()).toEqual(['2_index']);
    expect(await isValid('things_name')).toBe(true);
  });

  test('that was built but not recorded is kept', async () => {
    await admin.query('create index things_name on shop.things (name)');
    await addIndex('2_index', { name: 'things_name', on: 'things (name)' });
    expect(await run()).toEqual(['2_index']);
  });

  test('that waits too long for a transaction names its session', async () => {
    const reader = await openReader();
    await addIndex('2_index', { name: 'things_name', on: 'things (name)' });
    await expect(run({ waits: { outside: 500 } })).rejects.toThrow(/^2_index waits for session \d+ \(test-reader/);
    await reader.query('commit');
    expect(await run()).toEqual(['2_index']);
    expect(await isValid('things_name')).toBe(true);
  });

  test('whose process is killed is built by the next run', async () => {
    const reader = await openReader();
    await addIndex('2_index', { name: 'things_name', on: 'things (name)' });
    const script = path.join(folder, 'run.mjs');
    await writeFile(script, `import { migrate } from '${INDEX}'; await migrate(${JSON.stringify(owner())});`);
    const child = fork(script, { execArgv: [] });
    await eventually(async () => (await isValid('things_name')) === false, { what: 'the build of the index' });
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await reader.query('commit');
    expect(await run()).toEqual(['2_index']);
    expect(await isValid('things_name')).toBe(true);
  });
});

describe('an index of a partitioned table', () => {
  const index = { name: 'things_name', on: 'things (name, id) where name is not null', unique: true };

  beforeEach(async () => {
    const partition = (number: number) =>
      `create table things_p0${number} partition of things for values with (modulus 2, remainder ${number})`;
    await add(
      '1_create',
      `create table things (id bigint, name text) partition by hash (id); ${partition(0)}; ${partition(1)}`,
    );
    await run();
    await admin.query(`insert into shop.things select n, 'name ' || n from generate_series(1, 100) n`);
    await addIndex('2_index', index);
  });

  const createParts = async () => {
    for (const part of ['p00', 'p01'])
      await admin.query(
        `create unique index things_name_${part} on shop.things_${part} (name, id) where name is not null`,
      );
  };
  const whole = async () => {
    const { rows } = await admin.query<{ definition: string }>(
      `select pg_get_indexdef(inhrelid) as definition from pg_inherits where inhparent = 'shop.things_name'::regclass`,
    );
    return [await isValid(index.name), rows.map(({ definition }) => definition).sort()];
  };
  const complete = [
    true,
    [0, 1].map(
      (number) =>
        `CREATE UNIQUE INDEX things_name_p0${number} ON shop.things_p0${number} USING btree (name, id) WHERE (name IS NOT NULL)`,
    ),
  ];

  test('is built while others read and write', async () => {
    const reader = await openReader();
    const running = run();
    await eventually(async () => (await isValid('things_name_p00')) === false);
    await admin.query(`insert into shop.things select n, 'new' from generate_series(101, 110) n`);
    await reader.query('commit');
    expect(await running).toEqual(['2_index']);
    expect(await whole()).toEqual(complete);
  });

  test('does not let others wait behind a writer when it is put together', async () => {
    const writer = await session('test-writer');
    // The index of each partition would wait for the writer, too.
    await createParts();
    await writer.query(`begin; insert into shop.things values (201, 'x')`);
    const running = run();
    await eventually(async () => (await waiting()) > 0);
    await admin.query(`insert into shop.things values (202, 'x')`);
    expect(await isValid(index.name)).toBeUndefined();
    await writer.query('commit');
    expect(await running).toEqual(['2_index']);
    expect(await whole()).toEqual(complete);
  });

  test('that failed is built again where it is missing', async () => {
    await admin.query(`
      create unique index things_name_p00 on shop.things_p00 (name, id) where name is not null;
      insert into shop.things select id, name from shop.things_p01 limit 1`);
    await expect(run()).rejects.toThrow('could not create unique index "things_name_p01"');
    await admin.query('delete from shop.things_p01');
    const before = await admin.query(`select 'shop.things_name_p00'::regclass::oid`);
    expect(await run()).toEqual(['2_index']);
    expect((await admin.query(`select 'shop.things_name_p00'::regclass::oid`)).rows).toEqual(before.rows);
    expect(await whole()).toEqual(complete);
  });

  test('that was not put together completely is so by the next run', async () => {
    await createParts();
    await admin.query(`
      create unique index things_name on only shop.things (name, id) where name is not null;
      alter index shop.things_name attach partition shop.things_name_p00`);
    expect(await isValid(index.name)).toBe(false);
    expect(await run()).toEqual(['2_index']);
    expect(await whole()).toEqual(complete);
    await admin.query(`delete from shop.migrations where name = '2_index'`);
    expect(await run()).toEqual(['2_index']);
    expect(await whole()).toEqual(complete);
  });
});

describe('two runs at once', () => {
  test('take turns, also while one builds an index', async () => {
    await add('1_create', 'create table things (id bigint primary key, name text)');
    await run();
    const reader = await openReader();
    await addIndex('2_index', { name: 'things_name', on: 'things (name)' });
    await add('3_alter', 'alter table things add column size integer');
    const runs = [run(), run()];
    await eventually(async () => (await isValid('things_name')) === false);
    await reader.query('commit');
    expect((await Promise.all(runs)).toSorted((a, b) => b.length - a.length)).toEqual([['2_index', '3_alter'], []]);
  });

  test('the second gives up after its time', async () => {
    await add('1_create', 'create table things (id bigint primary key)');
    await run();
    const reader = await openReader();
    await add('2_alter', 'alter table things add column name text');
    let isWaiting = false;
    const first = run({ onWait: () => (isWaiting = true) });
    await eventually(() => isWaiting);
    await expect(run({ waits: { turn: 0 } })).rejects.toThrow('another process has been migrating the schema for 0 s');
    await reader.query('commit');
    expect(await first).toEqual(['2_alter']);
  });
});
