import { afterAll, describe, expect, test } from '@jest/globals';
import net from 'node:net';
import { createTestDatabase, errorOf, tcpProxy } from '@tocsin/testing';
import pg from 'pg';
import { databaseFailure, isDatabaseUnavailable, openDatabase, query } from '../src/index.ts';

const open = (url: string) => openDatabase({ url, schema: 'public', application: 'test', poolSize: 1 });
const database = await createTestDatabase();
const knex = open(database.adminUrl);
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

const raise = (state: string) => `do $$ begin raise exception using errcode = '${state}', message = 'as told'; end $$`;

describe('an error reported by the server', () => {
  test.each([
    ['08006', 'connection failure', 'unreachable'],
    ['57P01', 'shut down by its administrator', 'unreachable'],
    ['57P03', 'starting up', 'unreachable'],
    ['25006', 'read-only after a failover', 'unable'],
    ['28P01', 'the password changed', 'unable'],
    ['3F000', 'no such schema', 'unable'],
    ['42501', 'a privilege that is not granted yet', 'unable'],
    ['42P01', 'a table that does not exist yet', 'unable'],
    ['42703', 'a column that does not exist yet', 'unable'],
    ['42P10', 'a unique constraint that does not exist yet', 'unable'],
    ['53000', 'insufficient resources', 'unable'],
    ['53100', 'disk full', 'unable'],
    ['53200', 'out of memory', 'unable'],
    ['53300', 'too many connections', 'unable'],
    ['57000', 'operator intervention', 'unable'],
    ['58000', 'system error', 'unable'],
    ['58030', 'input/output error', 'unable'],
    ['F0000', 'configuration file error', 'unable'],
    ['40001', 'serialization failure', 'conflict'],
    ['40P01', 'deadlock', 'conflict'],
    ['55P03', 'lock not available', 'conflict'],
    ['57014', 'statement cancelled', 'timeout'],
    ['22003', 'number out of range', 'refused'],
    ['23505', 'unique violation', 'refused'],
    ['54000', 'program limit exceeded', 'refused'],
    ['P0001', 'raised by a function', 'refused'],
  ])('%s, %s: %s', async (state, _what, failure) => {
    const waits = failure === 'unreachable' || failure === 'unable';
    const errors = [
      await errorOf(knex.raw(raise(state))),
      await errorOf(knex.transaction(async (trx) => trx.raw(raise(state)))),
      await errorOf(query(knex, { name: `raise ${state}`, text: raise(state) })),
    ];
    for (const error of errors) {
      expect(error).toMatchObject({ code: state });
      expect(databaseFailure(error)).toBe(failure);
      expect(isDatabaseUnavailable(error)).toBe(waits);
    }
  });

  test('a real statement that is cancelled, and a real table that is missing', async () => {
    const slow = knex.transaction(async (trx) => {
      await trx.raw('set local statement_timeout = 20');
      await trx.raw('select pg_sleep(5)');
    });
    expect(databaseFailure(await errorOf(slow))).toBe('timeout');
    expect(databaseFailure(await errorOf(knex('of_tomorrow').select('id')))).toBe('unable');
  });
});

describe('a connection that cannot be opened', () => {
  test('because nobody listens', async () => {
    const nowhere = open('postgres://nobody:none@127.0.0.1:1/none');
    expect(databaseFailure(await errorOf(nowhere.raw('select 1')))).toBe('unreachable');
    await nowhere.destroy();
  });

  test('because it broke during a statement', async () => {
    const proxy = await tcpProxy(database.adminUrl);
    const far = open(proxy.url);
    await far.raw('select 1');
    const failure = errorOf(far.raw('select pg_sleep(5)'));
    await knex.raw('select 1');
    proxy.cut();
    expect(databaseFailure(await failure)).toBe('unreachable');
    await far.destroy();
    await proxy.close();
  });

  test('because the caller itself holds the last connection, in a transaction: it does not wait for itself', async () => {
    const tight = open(database.adminUrl);
    try {
      await tight.transaction(async (trx) => {
        await trx.raw('select 1');
        const error = await errorOf(tight.raw('select 1'));
        expect([databaseFailure(error), isDatabaseUnavailable(error)]).toEqual(['busy', true]);
      });
    } finally {
      await tight.destroy();
    }
  });
});

test('a session on a server that became read-only is replaced by a new one', async () => {
  const pool = open(database.adminUrl);
  await pool.raw('create table written (n int)');
  // Like a session that survives a failover: it stays read-only, but a new one is not.
  await pool.raw('set default_transaction_read_only = on');
  expect(databaseFailure(await errorOf(pool('written').insert({ n: 1 })))).toBe('unable');
  await pool('written').insert({ n: 2 });
  expect(await pool('written').pluck('n')).toEqual([2]);
  await pool.destroy();
});

describe('an error of another origin is not a database failure, whatever its code:', () => {
  test('a socket that is reset', async () => {
    const server = net.createServer((socket) => socket.resetAndDestroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const error = await new Promise<unknown>((resolve) => {
      net
        .connect((server.address() as net.AddressInfo).port, '127.0.0.1')
        .on('error', resolve)
        .resume();
    });
    server.close();
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(databaseFailure(error)).toBeUndefined();
  });

  test('another database client', async () => {
    const client = new pg.Client('postgres://nobody:none@127.0.0.1:1/none');
    const error = await errorOf(client.connect());
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    expect(isDatabaseUnavailable(error)).toBe(false);
  });

  test('a value that is not an error', () => {
    for (const value of [undefined, null, 'ECONNRESET', { code: '57P01', severity: 'FATAL' }]) {
      expect(databaseFailure(value)).toBeUndefined();
    }
  });
});
