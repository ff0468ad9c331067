import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, errorOf, eventually, tcpProxy, type TcpProxy } from '@tocsin/testing';
import { type FairQueue, RequestWork, runForRequest } from '@tocsin/runtime';
import {
  databaseFailure,
  type DatabaseOptions,
  isDatabaseStuck,
  isOutcomeUnknown,
  type Knex,
  openDatabase,
  pipeline,
  query,
} from '../src/index.ts';

/** Shorter than the real ones by the same factor. */
const DEADLINES = { silence: 300, probe: 600, proof: 400, read: 600, cancel: 400, connect: 1_500 };

let proxy: TcpProxy;
const pools: Knex[] = [];

const server = await createTestDatabase();
/** Not watched by a test's deadlines, for looking at the server. */
const observer = openDatabase({ url: server.adminUrl, schema: 'public', application: 'observer', poolSize: 2 });
await observer.raw('create table written (n int)');
afterAll(async () => {
  await observer.destroy();
  await server.drop();
});
beforeEach(async () => void (proxy = await tcpProxy(server.adminUrl)));
afterEach(async () => {
  proxy.restore();
  await Promise.all(pools.splice(0).map(async (pool) => pool.destroy()));
  await proxy.close();
});

/** A pool that reaches the server through the proxy. */
function openPool(options: Partial<DatabaseOptions> = {}): Knex {
  const pool = openDatabase({
    url: proxy.url,
    schema: 'public',
    application: 'watched',
    poolSize: 10,
    ...options,
    deadlines: { ...DEADLINES, ...options.deadlines },
  });
  pools.push(pool);
  return pool;
}

const asRequest = async <Result>(
  work: () => PromiseLike<Result>,
  options: Partial<{ holder: number; readOnly: boolean; isClientGone: () => boolean }> = {},
): Promise<Result> =>
  runForRequest(new RequestWork({ holder: 1, readOnly: true, isClientGone: () => false, ...options }), async () =>
    work(),
  );

const failureOf = async (work: PromiseLike<unknown>) => databaseFailure(await errorOf(work));

/** The statements that the server executes for the pools of a test. */
const running = async (): Promise<string[]> =>
  observer('pg_stat_activity')
    .where({ application_name: 'watched', state: 'active' })
    .andWhereRaw('datname = current_database()')
    .pluck('query');
const isRunning = async (statement: string) => (await running()).some((text) => text.includes(statement));
const begins = async (statement: string) =>
  eventually(async () => isRunning(statement), { what: `the execution of ${statement}` });
const ends = async (statement: string) =>
  eventually(async () => !(await isRunning(statement)), { what: `the end of ${statement}` });

/** Opens that many connections, all of which are unused afterwards. */
const openConnections = async (pool: Knex, count: number) =>
  Promise.all(Array.from({ length: count }, async () => pool.raw('select pg_sleep(0.1)')));

describe('when the server vanishes without closing its connections', () => {
  test('every statement fails, those of writes too, and all work again when it is back', async () => {
    const pool = openPool();
    await openConnections(pool, 6);
    proxy.stall();
    const failures = await Promise.all([
      failureOf(asRequest(async () => pool.raw('select 1'))),
      failureOf(asRequest(async () => pool('written').insert({ n: 1 }), { readOnly: false })),
      failureOf(pool.transaction(async (trx) => trx.raw('select 1'))),
      failureOf(query(pool, { name: 'one', text: 'select 1' })),
    ]);
    expect(failures).toEqual(['unreachable', 'unreachable', 'unreachable', 'unreachable']);
    // New connections are not answered either.
    expect(await failureOf(pool.raw('select 1'))).toBe('unreachable');

    proxy.restore();
    await Promise.all(Array.from({ length: 10 }, async () => pool.raw('select 1')));
  });

  test('and is reachable at another address: one statement finds out, and all others use new connections', async () => {
    const pool = openPool();
    await openConnections(pool, 10);
    proxy.strand();
    expect(await failureOf(asRequest(async () => pool.raw('select 1')))).toBe('unreachable');
    await Promise.all(Array.from({ length: 10 }, async () => asRequest(async () => pool.raw('select 1'))));
  });

  test('a connection that was not used for a while is replaced before it fails a request', async () => {
    const pool = openPool({ deadlines: { unused: 0 } });
    await openConnections(pool, 10);
    proxy.strand();
    const results = await Promise.all(
      Array.from({ length: 10 }, async () =>
        asRequest(async () => query(pool, { name: 'one', text: 'select 1 as one' })),
      ),
    );
    expect(results).toEqual(Array.from({ length: 10 }, () => [{ one: 1 }]));
  });

  test('a poll is not preceded by a proof: it fails by itself, and the next one has a new connection', async () => {
    const pool = openPool({ deadlines: { unused: 0 } });
    await openConnections(pool, 2);
    proxy.strand();
    expect(await failureOf(query(pool, { name: 'one', text: 'select 1 as one', isPoll: true }))).toBe('unreachable');
    expect(await query(pool, { name: 'one', text: 'select 1 as one', isPoll: true })).toEqual([{ one: 1 }]);
  });

  test('and a COMMIT is under way, or a write outside a transaction, its outcome is reported as unknown', async () => {
    const pool = openPool();
    const reached = Promise.withResolvers<void>();
    const commit = errorOf(
      pool.transaction(async (trx) => {
        await trx('written').insert({ n: 1 });
        reached.resolve();
        proxy.stall();
      }),
    );
    await reached.promise;
    expect([databaseFailure(await commit), isOutcomeUnknown(await commit)]).toEqual(['unreachable', true]);

    proxy.restore();
    await pool.raw('select 1');
    proxy.stall();
    const write = await errorOf(pool('written').insert({ n: 1 }));
    expect([databaseFailure(write), isOutcomeUnknown(write)]).toEqual(['unreachable', true]);
  });

  test('and a COMMIT was sent with the last statements, the outcome is reported as unknown', async () => {
    const pool = openPool();
    await openConnections(pool, 2);
    const write = { name: 'write', text: 'insert into written values (3)' };
    const together = async (commit: boolean) => {
      const error = await errorOf(pool.transaction(async (trx) => pipeline(trx, [write], { commit })));
      return [databaseFailure(error), isOutcomeUnknown(error)];
    };
    proxy.stall();
    expect(await Promise.all([together(true), together(false)])).toEqual([
      ['unreachable', true],
      ['unreachable', false],
    ]);
    expect(await observer('written').where({ n: 3 })).toEqual([]);
  });

  test('a statement before the COMMIT has no effect, and is not reported as unknown', async () => {
    const pool = openPool();
    const error = await errorOf(
      pool.transaction(async (trx) => {
        await trx('written').insert({ n: 1 });
        proxy.stall();
        await trx('written').insert({ n: 2 });
      }),
    );
    expect([databaseFailure(error), isOutcomeUnknown(error)]).toEqual(['unreachable', false]);
    const read = await errorOf(pool.raw('select 1'));
    expect(isOutcomeUnknown(read)).toBe(false);
  });
});

describe('a slow server that responds', () => {
  test('keeps its connections: a long statement of a write runs to its end', async () => {
    const start = performance.now();
    await openPool().raw('select 1');
    const probe = Math.ceil(DEADLINES.probe + 10 * (performance.now() - start));
    const pool = openPool({ deadlines: { silence: 100, probe, proof: probe } });
    const longer = `select 1 as one from pg_sleep(${(2.5 * probe) / 1_000})`;
    const { rows } = await asRequest(async () => pool.raw(longer), { readOnly: false });
    expect(rows).toEqual([{ one: 1 }]);
  });

  test('a statement that exceeds the time of all statements is cancelled by the server', async () => {
    const pool = openPool({ deadlines: { statement: 300 } });
    const error = await errorOf(asRequest(async () => pool.raw('select pg_sleep(30)'), { readOnly: false }));
    expect([databaseFailure(error), (error as { code?: string }).code]).toEqual(['timeout', '57014']);
  });
});

describe('a request that only reads', () => {
  test('has its statement cancelled after its time, on the server', async () => {
    const pool = openPool();
    expect(await failureOf(asRequest(async () => pool.raw('select pg_sleep(31)')))).toBe('timeout');
    await ends('pg_sleep(31)');
    expect(await failureOf(asRequest(async () => query(pool, { name: 'sleep', text: 'select pg_sleep(31)' })))).toBe(
      'timeout',
    );
    await ends('pg_sleep(31)');
  });

  test('has that time for all its statements together', async () => {
    const pool = openPool();
    const many = asRequest(async () => {
      for (let statements = 0; statements < 100; statements += 1) await pool.raw('select pg_sleep(0.5)');
    });
    expect(await failureOf(many)).toBe('timeout');
  });

  test('has its statement cancelled when its client goes, and so has its transaction', async () => {
    const pool = openPool({ deadlines: { read: 60_000 } });
    let gone = false;
    const isClientGone = () => gone;
    const plain = failureOf(asRequest(async () => pool.raw('select pg_sleep(32)'), { isClientGone }));
    const within = failureOf(
      asRequest(async () => pool.transaction(async (trx) => trx.raw('select pg_sleep(33)')), { isClientGone }),
    );
    await Promise.all([begins('pg_sleep(32)'), begins('pg_sleep(33)')]);
    gone = true;
    expect(await Promise.all([plain, within])).toEqual(['abandoned', 'abandoned']);
    await Promise.all([ends('pg_sleep(32)'), ends('pg_sleep(33)')]);
    expect((await pool.raw('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('fails when its statement cannot be cancelled', async () => {
    const pool = openPool();
    const failure = failureOf(asRequest(async () => pool.raw('select pg_sleep(34)')));
    await begins('pg_sleep(34)');
    proxy.strand();
    expect(await failure).toBe('unreachable');
  });
});

describe('a write whose client has gone', () => {
  let gone = false;
  const asWrite = async <Result>(work: () => PromiseLike<Result>) => {
    gone = false;
    return failureOf(asRequest(work, { readOnly: false, isClientGone: () => gone }));
  };

  test('begins nothing more, and does not commit', async () => {
    const pool = openPool();
    const between = asWrite(async () => {
      await pool('written').insert({ n: 103 });
      gone = true;
      await pool('written').insert({ n: 104 });
    });
    expect(await between).toBe('abandoned');
    for (const commit of [false, true]) {
      const within = asWrite(async () =>
        pool.transaction(async (trx) => {
          await trx('written').insert({ n: 105 });
          gone = true;
          return pipeline(trx, [{ name: 'write', text: 'insert into written values (106)' }], { commit });
        }),
      );
      expect(await within).toBe('abandoned');
    }
    expect(await observer('written').whereBetween('n', [103, 106]).pluck('n')).toEqual([103]);
  });

  test('does not get the lock that it waits for', async () => {
    const pool = openPool();
    await observer('written').insert({ n: 107 });
    const writes: (() => PromiseLike<unknown>)[] = [
      async () => pool('written').where({ n: 107 }).update({ n: 108 }),
      async () => pool.transaction(async (trx) => trx('written').where({ n: 107 }).update({ n: 108 })),
    ];
    for (const write of writes) {
      await observer.transaction(async (trx) => {
        await trx('written').where({ n: 107 }).forUpdate();
        const waiting = asWrite(write);
        await begins('update "written"');
        gone = true;
        expect(await waiting).toBe('abandoned');
      });
    }
    expect(await observer('written').whereBetween('n', [107, 108]).pluck('n')).toEqual([107]);
  });
});

describe('a workspace whose statements are slow', () => {
  test('uses its share of the connections, and the others notice nothing', async () => {
    const pool = openPool({ shared: true, deadlines: { read: 60_000 } });
    let gone = false;
    const isClientGone = () => gone;
    const slow = Array.from({ length: 20 }, async () =>
      failureOf(asRequest(async () => pool.raw('select pg_sleep(35)'), { isClientGone })),
    );
    await eventually(async () => (await running()).filter((text) => text.includes('pg_sleep(35)')).length === 3, {
      what: 'three slow statements',
    });
    for (let count = 0; count < 20; count += 1) {
      await asRequest(async () => pool.raw('select 1'), { holder: 2 });
      await asRequest(async () => pool('written').insert({ n: count }), { holder: 3, readOnly: false });
      await pool.raw('select 1');
    }
    expect((await running()).filter((text) => text.includes('pg_sleep(35)'))).toHaveLength(3);
    // Those beyond the share are refused after a while.
    expect(new Set(await Promise.all(slow.slice(3)))).toEqual(new Set(['share_exceeded']));
    gone = true;
    expect(new Set(await Promise.all(slow.slice(0, 3)))).toEqual(new Set(['abandoned']));
  });

  test('gets 429 at once when two hundred of its requests wait, and 503 if it has begun to write', async () => {
    const pool = openPool({ shared: true, poolSize: 3, deadlines: { read: 60_000 } });
    const asOwner = async (text: string) => asRequest(async () => pool.raw(text));
    const own = [failureOf(asOwner('select pg_sleep(36)'))];
    await begins('pg_sleep(36)');
    own.push(...Array.from({ length: 200 }, async () => failureOf(asOwner('select 1'))));
    expect(await failureOf(asOwner('select 1'))).toBe('share_exceeded');
    const write = new RequestWork({ holder: 1, readOnly: false, isClientGone: () => false });
    write.hasBegun = true;
    expect(await failureOf(runForRequest(write, async () => pool.raw('select 1')))).toBe('busy');
    await asRequest(async () => pool.raw('select 1'), { holder: 2 });
    // A database that does not respond is not the workspace's fault.
    proxy.stall();
    await eventually(async () => (await failureOf(asOwner('select 1'))) === 'busy', { what: 'a 503' });
    expect(new Set(await Promise.all(own))).toEqual(new Set(['unreachable']));
  });

  test('that fails in a transaction leaves no open transaction to the next user of the connection', async () => {
    const pool = openPool({ poolSize: 1 });
    const slow = asRequest(async () =>
      pool.transaction(async (trx) => {
        await trx('written').insert({ n: 104 });
        await trx.raw('select pg_sleep(30)');
      }),
    );
    expect(await failureOf(slow)).toBe('timeout');
    await pool('written').insert({ n: 105 });
    expect(await observer('written').whereIn('n', [104, 105]).pluck('n')).toEqual([105]);
  });
});

test('a pool is stuck when connections are asked for and nothing ends, and only then', async () => {
  const pool = openPool({ poolSize: 1, shared: true, deadlines: { stuck: 300 } });
  const held = Promise.withResolvers<void>();
  const holder = pool.transaction(async (trx) => {
    await trx.raw('select 1');
    await held.promise;
  });
  const { leases } = (pool.client as { connections: { leases: FairQueue<unknown> } }).connections;
  await eventually(() => leases.held === 1, { what: 'the connection in use' });
  // Nobody asks for anything.
  expect(isDatabaseStuck(pool)).toBe(false);
  const waiting = failureOf(asRequest(async () => pool.raw('select 1')));
  await eventually(() => isDatabaseStuck(pool), { what: 'the stuck pool' });
  // Nor does a refusal help.
  expect(await waiting).toBe('busy');
  expect(isDatabaseStuck(pool)).toBe(true);
  held.resolve();
  await holder;
  expect(isDatabaseStuck(pool)).toBe(false);
});
