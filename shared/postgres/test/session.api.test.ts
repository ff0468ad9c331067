import { afterAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, errorOf } from '@tocsin/testing';
import pg from 'pg';
import {
  databaseHosts,
  databaseReadiness,
  isDatabaseUnavailable,
  openDatabase,
  openSession,
  refuseUnusableSession,
  UnusableSession,
} from '../src/index.ts';

const database = await createTestDatabase();
const administrator = new pg.Client({ connectionString: database.adminUrl });
await administrator.connect();
const name = pg.escapeIdentifier(new URL(database.adminUrl).pathname.slice(1));
/** Without options of its own. */
const url = database.adminUrl.replace(/[?].*/, '');
afterAll(async () => {
  await administrator.end();
  await database.drop();
});

/** Runs `work` while the database gives its sessions these settings. */
async function withSettings<Result>(settings: Record<string, string>, work: () => Promise<Result>): Promise<Result> {
  for (const [setting, value] of Object.entries(settings)) {
    await administrator.query(`alter database ${name} set ${setting} to ${pg.escapeLiteral(value)}`);
  }
  try {
    return await work();
  } finally {
    await administrator.query(`alter database ${name} reset all`);
  }
}

const withDatabase = async <Result>(
  work: (db: ReturnType<typeof openDatabase>) => Promise<Result>,
): Promise<Result> => {
  const db = openDatabase({ url, schema: 'public', application: 'test', poolSize: 2 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
};

const show = async (db: ReturnType<typeof openDatabase>, setting: string) =>
  (await db.raw<{ rows: [{ value: string }] }>('select current_setting(?) as value', [setting])).rows[0].value;

describe('a session has the settings that the code relies on, when the database sets', () => {
  test.each([
    ['datestyle', 'German', 'ISO, YMD'],
    ['datestyle', 'SQL, DMY', 'ISO, YMD'],
    ['intervalstyle', 'iso_8601', 'postgres'],
    ['timezone', 'Asia/Kathmandu', 'UTC'],
    ['extra_float_digits', '-15', '1'],
    ['bytea_output', 'escape', 'hex'],
    ['client_encoding', 'LATIN1', 'UTF8'],
    ['standard_conforming_strings', 'off', 'on'],
    ['transform_null_equals', 'on', 'off'],
    ['array_nulls', 'off', 'on'],
    ['gin_fuzzy_search_limit', '1', '0'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['default_transaction_deferrable', 'on', 'off'],
    ['search_path', 'pg_catalog', '"public"'],
    ['synchronous_commit', 'off', 'on'],
    // They wait for the disk, and for replicas as the operator wants.
    ['synchronous_commit', 'local', 'local'],
    ['synchronous_commit', 'remote_apply', 'remote_apply'],
    ['exit_on_error', 'on', 'off'],
    ['idle_session_timeout', '100', '0'],
    ['idle_in_transaction_session_timeout', '1', '30s'],
    ['lock_timeout', '1', '0'],
    ['statement_timeout', '1000', '10s'],
    ['jit', 'on', 'off'],
    // It may be there for a reason: changes are refused, and nothing is wrong.
    ['default_transaction_read_only', 'on', 'on'],
  ])('%s to %s: %s', async (setting, value, expected) => {
    await withSettings({ [setting]: value }, async () =>
      withDatabase(async (db) => {
        expect(await show(db, setting)).toBe(expected);
      }),
    );
  });
});

test('whoever accepts lost commits says so in the URL', async () => {
  const session = await openSession(databaseHosts(database.adminUrl));
  expect((await session.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
  await session.end();
});

test('a session whose setting cannot be changed is refused, with the name of the setting', async () => {
  await withSettings({ session_replication_role: 'replica' }, async () =>
    withDatabase(async (db) => {
      for (const error of [await errorOf(db.raw('select 1')), await errorOf(refuseUnusableSession(db))]) {
        expect(error).toBeInstanceOf(UnusableSession);
        expect(error).toMatchObject({
          message: 'the setting session_replication_role of the database is replica, and must be origin',
        });
        expect(isDatabaseUnavailable(error)).toBe(true);
      }
    }),
  );
  // As soon as it is mended, without a restart.
  await withDatabase(async (db) => expect(await show(db, 'session_replication_role')).toBe('origin'));
});

test('a database that cannot be reached is no reason to end', async () => {
  const db = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', schema: 'x', application: 't', poolSize: 1 });
  await refuseUnusableSession(db);
  await db.destroy();
});

describe('of several hosts', () => {
  const { hostname, port } = new URL(url);
  const withHosts = (...hosts: string[]) => url.replace(`${hostname}:${port}`, hosts.join());

  test('the first one that can be reached is used', async () => {
    const db = openDatabase({
      url: withHosts('127.0.0.1:1', `${hostname}:${port}`),
      ...{ schema: 'public', application: 'test', poolSize: 2 },
    });
    expect(await show(db, 'server_encoding')).toBe('UTF8');
    await db.destroy();
  });

  test('none is used that takes no writes, until one does', async () => {
    const db = openDatabase({
      url: withHosts('127.0.0.1:1', `${hostname}:${port}`),
      ...{ schema: 'public', application: 'test', poolSize: 2 },
    });
    await withSettings({ default_transaction_read_only: 'on' }, async () => {
      const error = await errorOf(db.raw('select 1'));
      expect(error).toMatchObject({ message: `${hostname}:${port} takes no writes: it is a standby` });
      expect(isDatabaseUnavailable(error)).toBe(true);
      await refuseUnusableSession(db);
    });
    expect(await show(db, 'transaction_read_only')).toBe('off');
    await db.destroy();
  });

  test('a single one takes writes if the URL asks for it', async () => {
    await withSettings({ default_transaction_read_only: 'on' }, async () => {
      for (const [target, message] of [
        ['read-write', /takes no writes/],
        ['primary', /takes no writes/],
      ] as const) {
        const hosts = databaseHosts(`${url}?target_session_attrs=${target}`);
        expect(await errorOf(openSession(hosts))).toMatchObject({ message: expect.stringMatching(message) });
      }
    });
  });
});

test('readiness reads a table of the schema', async () => {
  const readiness = databaseReadiness({ url, schema: 'ready', application: 'test-health' });
  expect(await errorOf(readiness.check())).toMatchObject({ code: '42P01' });
  await administrator.query('create schema ready; create table ready.migrations (name text)');
  await administrator.query("insert into ready.migrations values ('first')");
  expect(await readiness.check()).toBe(true);
  expect((await administrator.query('select name from ready.migrations')).rows).toEqual([{ name: 'first' }]);
  await readiness.close();
});

test('a server that cannot be written to is not ready, until the address leads to one that can', async () => {
  await administrator.query('create schema written; create table written.migrations (name text)');
  const readiness = databaseReadiness({ url, schema: 'written', application: 'test-health' });
  // Like a standby, it refuses each write.
  await withSettings({ default_transaction_read_only: 'on' }, async () =>
    expect(await errorOf(readiness.check())).toMatchObject({ code: '25006' }),
  );
  expect(await readiness.check()).toBe(true);
  await readiness.close();
});
