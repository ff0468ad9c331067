import { describe, expect, test } from '@jest/globals';
import { createLogger, RequestWork, runForRequest } from '@tocsin/runtime';
import {
  createTestDatabase,
  errorOf,
  eventually,
  keepsStatements,
  PGBOUNCER,
  startPgBouncer,
  TRANSACTION_PGBOUNCER,
} from '@tocsin/testing';
import { closedAfterEach, describeWithProgram, describeWithTransactionPooler } from '@tocsin/testing/suites';
import pg from 'pg';
import {
  type DatabaseOptions,
  listenForNotifications,
  openDatabase,
  pipeline,
  query,
  setRoleSettings,
  type Statement,
  UnusableSession,
} from '../src/index.ts';

const SHARED =
  'the connection pooler shares sessions among its clients: Tocsin needs its session mode (pool_mode = session), ' +
  'because advisory locks, notifications and prepared statements belong to a session. ' +
  'With DATABASE_SESSION_URL its transaction mode will do';
const FORGETFUL =
  'the connection pooler shares sessions and does not keep prepared statements: its transaction mode needs ' +
  'PgBouncer 1.21 or later, and max_prepared_statements above 0';

describeWithProgram(PGBOUNCER)('PgBouncer', () => {
  const closed = closedAfterEach();

  /** Opens a pool through PgBouncer, on a database of its own. */
  const open = async (settings: Record<string, string | number>, poolSize = 3) => {
    const database = await createTestDatabase();
    closed({ close: database.drop });
    const pooler = await startPgBouncer(database.adminUrl, { settings });
    closed({ close: pooler.stop });
    const connect = () => {
      const db = openDatabase({ url: pooler.url, schema: 'public', application: 'test-pooled', poolSize });
      closed({ close: async () => db.destroy() });
      return db;
    };
    return { connect, pooler, database };
  };

  test('in session mode gives sessions with the settings that the code relies on', async () => {
    const { connect, pooler, database } = await open({ pool_mode: 'session' });
    const db = connect();
    const { rows } = await db.raw(
      `select current_setting('DateStyle') as style, current_setting('search_path') as path,
        current_setting('statement_timeout') as timeout, current_setting('application_name') as application`,
    );
    expect(rows).toEqual([{ style: 'ISO, YMD', path: '"public"', timeout: '10s', application: 'test-pooled' }]);
    await db.transaction(async (trx) => {
      await trx.raw('create table notes (id int)');
    });
    const payloads: string[] = [];
    const listener = listenForNotifications({
      url: pooler.url,
      channel: 'pooled',
      application: 'test',
      log: createLogger({ app: 'test', level: 'silent' }),
      onConnect: () => payloads.push('connected'),
      onNotification: (payload) => payloads.push(payload),
    });
    closed({ close: listener.stop });
    await eventually(() => payloads.length === 1);
    const direct = new pg.Client({ connectionString: database.adminUrl });
    await direct.connect();
    await direct.query(`notify pooled, 'told'`);
    await direct.end();
    await eventually(() => payloads.includes('told'));
  });

  test('that resets nothing between its clients leaves nothing of the previous one', async () => {
    const { connect, pooler } = await open({ pool_mode: 'session', server_reset_query: '', default_pool_size: 2 });
    const stranger = new pg.Client({ connectionString: pooler.url });
    await stranger.connect();
    await stranger.query(`set datestyle to 'German'; set standard_conforming_strings to off; set lock_timeout to 1`);
    await stranger.query({ name: 'one', text: 'select 0 as one' });
    await stranger.query('select pg_advisory_lock(7)');
    await stranger.end();
    for (const _ of [1, 2, 3]) {
      const db = connect();
      expect(await query(db, { name: 'one', text: 'select 1 as one' })).toEqual([{ one: 1 }]);
      const { rows } = await db.raw(
        `select current_setting('DateStyle') as style, current_setting('lock_timeout') as timeout,
          (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())::int as locks`,
      );
      expect(rows).toEqual([{ style: 'ISO, YMD', timeout: '0', locks: 0 }]);
      await db.destroy();
    }
  });

  test.each([
    { pool_mode: 'transaction' },
    { pool_mode: 'transaction', server_round_robin: 1, min_pool_size: 3 },
    { pool_mode: 'transaction', default_pool_size: 1 },
    { pool_mode: 'statement' },
  ])('with %j is refused', async (settings) => {
    const db = (await open(settings)).connect();
    for (const _ of [1, 2, 3]) {
      const error = await errorOf(db.raw('select 1'));
      expect(error).toBeInstanceOf(UnusableSession);
      expect(error).toMatchObject({ message: SHARED });
    }
  });

  test('in transaction mode is refused while another client uses its sessions, too', async () => {
    const { connect, pooler } = await open({ pool_mode: 'transaction' }, 1);
    const other = new pg.Client({ connectionString: pooler.url });
    await other.connect();
    let isOver = false;
    const use = (async () => {
      while (!isOver) await other.query('select pg_sleep(0.004 * random())');
      await other.end();
    })();
    try {
      for (let count = 0; count < 30; count += 1)
        expect(await errorOf(connect().raw('select 1'))).toMatchObject({ message: SHARED });
    } finally {
      isOver = true;
      await use;
    }
  });

  test('whose pool has no room says so', async () => {
    const db = (await open({ pool_mode: 'session', default_pool_size: 1 })).connect();
    expect(await errorOf(db.raw('select 1'))).toMatchObject({
      message: expect.stringMatching(
        /^the connection pooler gives no second session: its pool must have one for each connection of Tocsin \(/,
      ),
    });
  });
});

/** Settings of a pooler in transaction mode, with fewer sessions than clients. */
const TRANSACTIONS = { pool_mode: 'transaction', default_pool_size: 2, max_prepared_statements: 100 };

/** Opens pools whose sessions may be shared, through a PgBouncer on a database of its own. */
function sharedSessions() {
  const closed = closedAfterEach();
  return async (settings: Record<string, string | number>, program = TRANSACTION_PGBOUNCER) => {
    const database = await createTestDatabase();
    closed({ close: database.drop });
    const pooler = await startPgBouncer(database.adminUrl, { program, settings });
    closed({ close: pooler.stop });
    const connect = (changes: Partial<DatabaseOptions> = {}) => {
      const options = { schema: 'public', application: 'test-shared', poolSize: 6, sharesSessions: true, ...changes };
      const db = openDatabase({ url: pooler.url, ...options });
      closed({ close: async () => db.destroy() });
      return db;
    };
    const direct = new pg.Client({ connectionString: database.adminUrl });
    await direct.connect();
    closed({ close: async () => direct.end() });
    const name = pg.escapeIdentifier(direct.database ?? '');
    return { connect, direct, name, url: database.adminUrl.replace(/[?].*/, '') };
  };
}

describeWithTransactionPooler('a pooler in transaction mode', () => {
  const open = sharedSessions();
  const prepared = async (settings: Record<string, string | number> = {}) => {
    const opened = await open({ ...TRANSACTIONS, ...settings });
    expect(await setRoleSettings({ url: opened.url, schema: 'public' })).toBe(true);
    return opened;
  };
  const one: Statement<{ one: number }> = { name: 'one', text: 'select 1 as one' };

  test('gives transactions with the settings that the code relies on, each in one session', async () => {
    const { connect, direct, name } = await prepared();
    await direct.query(`alter database ${name} set datestyle to 'German'`);
    const db = connect();
    const sessions = new Set<number>();
    await Promise.all(
      Array.from({ length: 12 }, async () =>
        db.transaction(async (trx) => {
          const read: Statement<{ pid: number }> = {
            name: 'settings',
            text: `select current_setting('DateStyle') as style, current_setting('search_path') as path,
              current_setting('statement_timeout') as timeout, current_setting('application_name') as application,
              pg_backend_pid() as pid`,
          };
          const [[first], [second]] = [await query(trx, read), await query(trx, read)];
          expect(second).toEqual(first);
          sessions.add(first?.pid ?? 0);
          expect(first).toMatchObject({
            ...{ style: 'ISO, YMD', path: '"public"', timeout: '10s', application: 'test-shared' },
          });
        }),
      ),
    );
    expect(sessions.size).toBeLessThanOrEqual(2);
  });

  test('prepares the statements again that a failed pipeline has not reached', async () => {
    const db = (await prepared()).connect({ poolSize: 1 });
    const failing = { name: 'failing', text: 'select 1 / $1::int as quotient', values: [0] };
    const wrong = { name: 'wrong', text: 'select no_such_column' };
    for (const _ of [1, 2, 3]) {
      expect(await errorOf(pipeline(db, [failing, one]))).toMatchObject({ code: '22012' });
      expect(await errorOf(query(db, wrong))).toMatchObject({ code: '42703' });
      expect(await query(db, one)).toEqual([{ one: 1 }]);
    }
    const transaction = db.transaction(async (trx) => {
      await pipeline(trx, [one, failing, { name: 'two', text: 'select 2 as two' }]);
    });
    expect(await errorOf(transaction)).toMatchObject({ code: '22012' });
    expect(await query(db, { name: 'two', text: 'select 2 as two' })).toEqual([{ two: 2 }]);
  });

  test('goes on after a migration has changed what a prepared statement returns, in all of its sessions', async () => {
    const { connect, direct } = await prepared();
    await direct.query('create table changing (id int); insert into changing values (7)');
    const read = { name: 'read', text: 'select id from changing' };
    const pools = [connect(), connect()];
    const readInEach = async () =>
      (await Promise.all(pools.flatMap((db) => Array.from({ length: 6 }, async () => query(db, read))))).flat();
    expect(new Set((await readInEach()).map((row) => JSON.stringify(row)))).toEqual(new Set(['{"id":7}']));
    for (const [type, id] of [
      ['text', '7'],
      ['int', 7],
      ['boolean', true],
    ] as const) {
      await direct.query(`alter table changing alter column id type ${type} using id::${type}`);
      for (const row of await readInEach()) expect(row).toEqual({ id });
    }
  });

  test('keeps more statements than each of its sessions does', async () => {
    const db = (await prepared({ max_prepared_statements: 2 })).connect();
    const statements = Array.from({ length: 9 }, (_, index) => ({
      ...{ name: `n-${index}`, text: `select ${index} as value` },
    }));
    for (const _ of [1, 2, 3]) {
      const results = await Promise.all(statements.map(async (statement) => query(db, statement)));
      expect(results).toEqual(statements.map((_statement, index) => [{ value: index }]));
    }
  });

  test('cancels the statement of the client that asked for it', async () => {
    const db = (await prepared()).connect({ deadlines: { read: 300 } });
    const other = db.raw('select 1 as one, pg_sleep(2)');
    const request = new RequestWork({ holder: 1, readOnly: true, isClientGone: () => false });
    const error = await errorOf(runForRequest(request, async () => db.raw('select pg_sleep(60)')));
    expect(error).toMatchObject({ failure: 'timeout' });
    expect((await other).rows).toMatchObject([{ one: 1 }]);
  });

  test('that is none is used as it is, and so is one in session mode', async () => {
    const { url } = await prepared();
    const pooler = await open({ pool_mode: 'session' });
    await setRoleSettings({ url: pooler.url, schema: 'public' });
    const direct = openDatabase({ url, schema: 'public', application: 'test', poolSize: 2, sharesSessions: true });
    for (const db of [direct, pooler.connect()]) {
      expect(await Promise.all([query(db, one), query(db, one)])).toEqual([[{ one: 1 }], [{ one: 1 }]]);
    }
    await direct.destroy();
  });

  test('is refused without the settings of the role, which are set once', async () => {
    const { connect, url } = await open(TRANSACTIONS);
    const advice =
      'run the migrations with DATABASE_SESSION_URL, then have the pooler open new sessions (RECONNECT). Each app needs ' +
      'a role of its own';
    const error = await errorOf(connect().raw('select 1'));
    expect(error).toBeInstanceOf(UnusableSession);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^the setting \w+ of the role postgres is .+, and must/),
    });
    expect(String(error)).toContain(advice);
    expect(await setRoleSettings({ url, schema: 'public' })).toBe(true);
    expect(await setRoleSettings({ url, schema: 'public' })).toBe(false);
  });

  test('is refused with a setting that only an administrator can change', async () => {
    const { connect, direct, name } = await prepared();
    await direct.query(`alter role postgres in database ${name} set session_replication_role = 'replica'`);
    expect(await errorOf(connect().raw('select 1'))).toMatchObject({
      message: expect.stringMatching(/^the setting session_replication_role of .+ is replica, and must be origin/),
    });
  });

  test('is refused with the role of another app', async () => {
    const { connect } = await prepared();
    expect(await errorOf(connect({ schema: 'other' }).raw('select 1'))).toMatchObject({
      message: expect.stringMatching(
        /^the setting search_path of the role postgres is "public", and must be "other": /,
      ),
    });
  });

  test.each([{ max_prepared_statements: 0 }, { max_prepared_statements: 0, default_pool_size: 1 }])(
    'with %j is refused',
    async (settings) => {
      const db = (await prepared(settings)).connect();
      for (const _ of [1, 2, 3]) expect(await errorOf(db.raw('select 1'))).toMatchObject({ message: FORGETFUL });
    },
  );

  test('in statement mode is refused', async () => {
    const db = (await prepared({ pool_mode: 'statement' })).connect();
    for (const _ of [1, 2, 3]) {
      const error = await errorOf(db.raw('select 1'));
      expect(error).toBeInstanceOf(UnusableSession);
      expect(error).toMatchObject({ message: expect.stringContaining('pool_mode = transaction') });
    }
  });
});

// A later one keeps prepared statements: its tests are those of transaction pooling.
(keepsStatements(PGBOUNCER) ? describe.skip : describeWithProgram(PGBOUNCER))('a PgBouncer before 1.21', () => {
  const open = sharedSessions();

  test.each([{}, { server_round_robin: 1, min_pool_size: 3 }, { default_pool_size: 1 }])(
    'in transaction mode with %j is refused',
    async (settings) => {
      const { connect } = await open({ pool_mode: 'transaction', ...settings }, PGBOUNCER);
      for (const _ of [1, 2, 3]) {
        const error = await errorOf(connect().raw('select 1'));
        expect(error).toBeInstanceOf(UnusableSession);
        expect(error).toMatchObject({ message: FORGETFUL });
      }
    },
  );
});
