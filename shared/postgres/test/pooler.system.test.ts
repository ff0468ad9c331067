import { expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { createTestDatabase, errorOf, eventually, PGBOUNCER, startPgBouncer } from '@tocsin/testing';
import { closedAfterEach, describeWithProgram } from '@tocsin/testing/suites';
import pg from 'pg';
import { listenForNotifications, openDatabase, query, UnusableSession } from '../src/index.ts';

const SHARED =
  'the connection pooler shares sessions among its clients: Tocsin needs its session mode (pool_mode = session), ' +
  'because advisory locks, notifications and prepared statements belong to a session';

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

  test('whose pool has no room says so', async () => {
    const db = (await open({ pool_mode: 'session', default_pool_size: 1 })).connect();
    expect(await errorOf(db.raw('select 1'))).toMatchObject({
      message: expect.stringMatching(
        /^the connection pooler gives no second session: its pool must have one for each connection of Tocsin \(/,
      ),
    });
  });
});
