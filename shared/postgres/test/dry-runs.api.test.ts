import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { inOwnDryRun, outsideDryRun, runDry, runForRequest, RequestWork } from '@tocsin/runtime';
import { createTestDatabase, errorOf } from '@tocsin/testing';
import { databaseFailure, isOutcomeUnknown, type Knex, openDatabase, pipeline, query } from '../src/index.ts';

/** A pool of one connection. */
let pool: Knex;

const openPool = () => openDatabase({ url: server.adminUrl, schema: 'public', application: 'test', poolSize: 1 });

const server = await createTestDatabase();
/** Another pool, which sees what is committed. */
const observer = openPool();
await observer.raw('create table notes (text text primary key)');
await observer.raw('create table parents (id int primary key)');
await observer.raw('create table children (parent int references parents deferrable initially deferred)');
afterAll(async () => {
  await observer.destroy();
  await server.drop();
});
beforeEach(() => {
  pool = openPool();
});
afterEach(async () => {
  await pool.destroy();
  await observer('notes').delete();
});

const request = { holder: 1, readOnly: false, isClientGone: () => false };
const insert = (text: string) => ({ name: 'insert', text: 'insert into notes values ($1)', values: [text] });
const DIVIDE = { text: 'select 1 / 0' };
const notesIn = async (db: Knex) => db('notes').orderBy('text').pluck<string[]>('text');

const backend = async (db: Knex): Promise<number> => {
  const [row] = await query<{ pid: number }>(db, { text: 'select pg_backend_pid() as pid' });
  return row!.pid;
};

describe('a dry run', () => {
  test('sees everything that it has written, nobody else does, and nothing of it stays', async () => {
    const pid = await backend(pool);
    await runDry(request, async () => {
      await pipeline(pool, [insert('a'), insert('b')]);
      await pool('notes').where({ text: 'a' }).delete();
      await pool.transaction(async (trx) => trx('notes').insert({ text: 'c' }));
      await pool.transaction(async (trx) => {
        await trx('notes').insert({ text: 'd' });
        expect(await notesIn(trx)).toEqual(['b', 'c', 'd']);
        // Outside of the transaction, in its function.
        await pool('notes').insert({ text: 'e' });
        await pipeline(trx, [insert('f')], { commit: true });
      });
      expect(await notesIn(pool)).toEqual(['b', 'c', 'd', 'e', 'f']);
      expect(await notesIn(observer)).toEqual([]);
    });
    expect([await notesIn(observer), await backend(pool)]).toEqual([[], pid]);
  });

  test('holds its connection only from the first write on that does not fail', async () => {
    await runDry(request, async () => {
      expect(await notesIn(pool)).toEqual([]);
      await outsideDryRun(async () => pool('notes').insert({ text: 'a' }));
      for (const fail of [
        async () => pipeline(pool, [insert('b'), insert('a')]),
        async () => pool.transaction(async (trx) => pipeline(trx, [insert('b'), DIVIDE])),
        async () =>
          pool.transaction(async (trx) => {
            await trx('notes').insert({ text: 'b' });
            throw new Error('refused');
          }),
        async () =>
          pool.transaction(async () => {
            throw new Error('refused before the first statement');
          }),
      ]) {
        expect(await errorOf(fail())).toBeInstanceOf(Error);
        await outsideDryRun(async () => pool('notes').delete().where({ text: 'b' }));
      }
      await pool.transaction(async () => undefined);
      expect(await outsideDryRun(async () => notesIn(pool))).toEqual(['a']);
    });
    expect(await notesIn(pool)).toEqual(['a']);
  });

  test('undoes only what fails in a later transaction or statement', async () => {
    await runDry(request, async () => {
      await pool('notes').insert({ text: 'a' });
      for (const work of [
        async (trx: Knex.Transaction) => [await trx('notes').insert({ text: 'b' }), await trx.raw('select 1 / 0')],
        async (trx: Knex.Transaction) => pipeline(trx, [insert('b'), DIVIDE], { commit: true }),
        async () => Promise.reject(new Error('refused before the first statement')),
      ]) {
        expect(await errorOf(pool.transaction(work))).toBeInstanceOf(Error);
      }
      expect(await errorOf(pipeline(pool, [insert('b'), insert('a')]))).toMatchObject({ code: '23505' });
      expect(await errorOf(pipeline(pool, [DIVIDE]))).toMatchObject({ code: '22012' });
      await pool('notes').insert({ text: 'c' });
      expect(await notesIn(pool)).toEqual(['a', 'c']);
    });
  });

  test('runs what the request runs at once one after the other', async () => {
    await runDry(request, async () => {
      const outcomes = await Promise.allSettled([
        pool.transaction(async (trx) => trx('notes').insert({ text: 'a' })),
        pool.transaction(async (trx) => [await trx('notes').insert({ text: 'b' }), await trx.raw('select 1 / 0')]),
        pool('notes').insert({ text: 'c' }),
        pipeline(pool, [insert('a')]),
        notesIn(pool),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(await notesIn(pool)).toEqual(['a', 'c']);
    });
    expect(await notesIn(pool)).toEqual([]);
  });

  test('makes the checks of a COMMIT', async () => {
    for (const end of [async () => undefined, async (trx: Knex.Transaction) => pipeline(trx, [], { commit: true })]) {
      await runDry(request, async () => {
        const orphan = pool.transaction(async (trx) => {
          await trx('children').insert({ parent: 1 });
          await end(trx);
        });
        expect(await errorOf(orphan)).toMatchObject({ code: '23503' });
      });
      const ignoring = runDry(request, async () =>
        pool.transaction(async (trx) => {
          await errorOf(trx.raw('select 1 / 0'));
          await end(trx);
        }),
      );
      expect(databaseFailure(await errorOf(ignoring))).toBe('refused');
    }
  });

  test('gives back the locks of a part of its own at the end of the part', async () => {
    await observer('notes').insert({ text: 'a' });
    await runDry(request, async () => {
      await inOwnDryRun(async () => {
        await pool('notes').update({ text: 'b' });
        expect(await notesIn(pool)).toEqual(['b']);
      });
      await outsideDryRun(async () => observer('notes').update({ text: 'c' }));
      expect(await notesIn(pool)).toEqual(['c']);
    });
  });

  test('that loses its connection fails with a known outcome, and its end works', async () => {
    const error = await errorOf(
      runDry(request, async () => {
        await pool('notes').insert({ text: 'a' });
        await observer.raw('select pg_terminate_backend(?, 5000)', [await backend(pool)]);
        await pool('notes').insert({ text: 'b' });
      }),
    );
    expect([databaseFailure(error), isOutcomeUnknown(error)]).toEqual(['unreachable', false]);
    await pool('notes').insert({ text: 'c' });
    expect(await notesIn(pool)).toEqual(['c']);
  });

  test('ends with its function, even for what still runs in it', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const ended = Promise.withResolvers<void>();
    const failed = new Error('the work has failed');
    const error = await errorOf(
      runDry(request, async () => {
        await pool('notes').insert({ text: 'a' });
        late = ended.promise.then(async () => errorOf(pool('notes').insert({ text: 'b' })));
        throw failed;
      }),
    );
    ended.resolve();
    expect(error).toBe(failed);
    expect(await late).toMatchObject({ message: expect.stringContaining('the dry run is over') });
    expect(await notesIn(pool)).toEqual([]);
  });
});

test('a part of its own is nothing special in a request that is no dry run', async () => {
  await runForRequest(new RequestWork(request), async () =>
    inOwnDryRun(async () => outsideDryRun(async () => pool('notes').insert({ text: 'a' }))),
  );
  expect(await notesIn(pool)).toEqual(['a']);
});
