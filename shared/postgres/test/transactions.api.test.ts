import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestWork, runForRequest } from '@tocsin/runtime';
import { createTestDatabase, errorOf, eventually, tcpProxy, type TcpProxy } from '@tocsin/testing';
import { databaseFailure, type Knex, openDatabase, pipeline, query } from '../src/index.ts';
import type { DatabaseDeadlines } from '../src/database-deadlines.ts';

let proxy: TcpProxy;
/** A pool of one connection, through the proxy. */
let pool: Knex;

const openPool = (url: string, deadlines: Partial<DatabaseDeadlines> = { silence: 300, probe: 300 }) =>
  openDatabase({ url, schema: 'public', application: 'test', poolSize: 1, deadlines });

const server = await createTestDatabase();
/** Another pool, which looks at the server and ends sessions there. */
const observer = openPool(server.adminUrl);
await observer.raw('create table notes (text text primary key)');
await observer.raw('create table parents (id int primary key)');
await observer.raw('create table children (parent int references parents deferrable initially deferred)');
afterAll(async () => {
  await observer.destroy();
  await server.drop();
});
beforeEach(async () => {
  proxy = await tcpProxy(server.adminUrl);
  pool = openPool(proxy.url);
});
afterEach(async () => {
  proxy.restore();
  await pool.destroy();
  await proxy.close();
  await observer('notes').delete();
});

const insert = (text: string) => ({ name: 'insert', text: 'insert into notes values ($1)', values: [text] });
const DIVIDE = { text: 'select 1 / 0' };
const notes = async () => observer('notes').orderBy('text').pluck<string[]>('text');

/** The process of the server that executes the statements of a connection. */
const backend = async (db: Knex): Promise<number> => {
  const [row] = await query<{ pid: number }>(db, { text: 'select pg_backend_pid() as pid' });
  return row!.pid;
};
const terminate = async (pid: number) => observer.raw('select pg_terminate_backend(?, 5000)', [pid]);

describe('statements that are sent together outside of a transaction', () => {
  test('take effect together or not at all, and the connection works on', async () => {
    const pid = await backend(pool);
    for (const statements of [
      [insert('a'), DIVIDE],
      [DIVIDE, insert('a')],
      [insert('a'), insert('a')],
    ]) {
      expect(databaseFailure(await errorOf(pipeline(pool, statements)))).toBe('refused');
    }
    expect(await notes()).toEqual([]);
    await pipeline(pool, [insert('b'), insert('c')]);
    expect([await notes(), await backend(pool)]).toEqual([['b', 'c'], pid]);
  });
});

describe('a transaction', () => {
  test('whose statement has failed is rolled back, and its connection is used again', async () => {
    const pid = await backend(pool);
    const attempts: ((trx: Knex.Transaction) => Promise<unknown>)[] = [
      async (trx) => trx.raw('select 1 / 0'),
      async (trx) => [await trx('notes').insert({ text: 'a' }), await trx.raw('select 1 / 0')],
      async (trx) => Promise.all([trx('notes').insert({ text: 'a' }), trx.raw('select 1 / 0'), trx.raw('select 1')]),
      async (trx) => pipeline(trx, [insert('a'), DIVIDE]),
      async (trx) => [await pipeline(trx, [insert('a')]), await pipeline(trx, [DIVIDE], { commit: true })],
    ];
    for (const work of attempts) expect(await errorOf(pool.transaction(work))).toMatchObject({ code: '22012' });
    expect([await notes(), await backend(pool)]).toEqual([[], pid]);
  });

  test('whose function ignores that a statement has failed is not reported as committed', async () => {
    for (const end of [async () => undefined, async (trx: Knex.Transaction) => pipeline(trx, [], { commit: true })]) {
      const error = await errorOf(
        pool.transaction(async (trx) => {
          await trx('notes').insert({ text: 'a' });
          await errorOf(trx.raw('select 1 / 0'));
          await end(trx);
        }),
      );
      expect(error).toMatchObject({ failure: 'refused', message: expect.stringContaining('was rolled back') });
    }
    expect(await notes()).toEqual([]);
  });

  test('whose COMMIT fails leaves its connection to others', async () => {
    const pid = await backend(pool);
    const error = await errorOf(pool.transaction(async (trx) => trx('children').insert({ parent: 1 })));
    expect(error).toMatchObject({ code: '23503' });
    expect(await backend(pool)).toBe(pid);
  });

  test('that cannot be rolled back reports why it failed', async () => {
    for (const lose of [async (pid: number) => terminate(pid), async () => proxy.stall()]) {
      const failed = new Error('the work has failed');
      const error = await errorOf(
        pool.transaction(async (trx) => {
          await trx('notes').insert({ text: 'a' });
          await lose(await backend(trx));
          throw failed;
        }),
      );
      expect(error).toBe(failed);
      proxy.restore();
      await pool('notes').insert({ text: 'b' });
      expect(await notes()).toEqual(['b']);
      await observer('notes').delete();
    }
  });

  test('whose statement was cancelled leaves its connection to nobody', async () => {
    const reading = new RequestWork({ holder: 1, readOnly: true, isClientGone: () => true });
    // A connection is open, so that nothing else can fail first on a busy machine.
    const patient = openPool(server.adminUrl, {});
    await backend(patient);
    try {
      // A cancel request reaches the statement that it is for, or a later one.
      for (const statement of ['select pg_sleep(60)', 'select pg_sleep(0.002)']) {
        let pid = 0;
        const error = await errorOf(
          runForRequest(reading, async () =>
            patient.transaction(async (trx) => {
              pid = await backend(trx);
              for (;;) await trx.raw(statement);
            }),
          ),
        );
        expect(databaseFailure(error)).toBe('abandoned');
        expect(await backend(patient)).not.toBe(pid);
        await eventually(async () => {
          const { rows } = await observer.raw('select 1 from pg_stat_activity where pid = ?', [pid]);
          return rows.length === 0;
        });
      }
    } finally {
      await patient.destroy();
    }
  });

  test('is over at the end of its function, and contains no other one', async () => {
    const kept: Knex.Transaction[] = [];
    await pool.transaction(async (trx) => void kept.push(trx));
    await pool.transaction(async (trx) => {
      kept.push(trx);
      await trx.raw('select 1');
    });
    await errorOf(
      pool.transaction(async (trx) => {
        kept.push(trx);
        throw new Error('rolled back');
      }),
    );
    for (const trx of kept) {
      expect(await errorOf(trx('notes').insert({ text: 'a' }))).toMatchObject({
        message: expect.stringContaining('the transaction is over'),
      });
    }
    const nested = pool.transaction(async (trx) => trx.transaction(async () => undefined));
    expect(await errorOf(nested)).toMatchObject({ message: 'a transaction cannot begin in another one' });
    expect(await notes()).toEqual([]);
  });
});

test('a pool that is closed waits for what runs, and refuses what waits and what comes later', async () => {
  const other = openPool(server.adminUrl);
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const running = other.transaction(async (trx) => {
    await trx.raw('select 1');
    begun.resolve();
    await held.promise;
    await trx('notes').insert({ text: 'a' });
  });
  await begun.promise;
  const waiting = errorOf(other.raw('select 1'));
  const closed = other.destroy();
  const later = await errorOf(other.raw('select 1'));
  held.resolve();
  await Promise.all([running, closed]);
  for (const error of [await waiting, later]) {
    expect(error).toMatchObject({ message: 'the pool of connections is closed' });
  }
  expect(await notes()).toEqual(['a']);
});
