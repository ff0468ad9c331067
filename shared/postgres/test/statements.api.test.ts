import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, errorOf } from '@tocsin/testing';
import { databaseFailure, type Knex, openDatabase, pipeline, query } from '../src/index.ts';

const database = await createTestDatabase();
const knex = openDatabase({ url: database.adminUrl, schema: 'public', application: 'test', poolSize: 1 });
await knex.raw('create table notes (id bigserial primary key, text text unique)');
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

const preparedNames = async () =>
  (await knex.raw<{ rows: { name: string }[] }>('select name from pg_prepared_statements')).rows.map(
    ({ name }) => name,
  );

describe('a prepared statement', () => {
  test('returns rows of the same columns each time', async () => {
    const text = `select $1::bigint as number, null::text as nothing, $2::jsonb as value, '2026-11-20 09:30+00'::timestamptz as at`;
    const run = async (number: number) =>
      query(knex, { name: 'columns', text, values: [number, JSON.stringify({ number })] });
    const row = (number: number) => ({ number, nothing: null, value: { number }, at: '2026-11-20T09:30:00.000Z' });
    for (const number of [1, 2, 3]) expect(await run(number)).toEqual([row(number)]);
  });

  test.each([[[]], [['a']], [['a', '', 'a b', 'NULL', 'null', 'c,d', 'e"f', String.raw`g\h`, '{}', 'é']]])(
    'reads the array %j',
    async (texts) => {
      expect(await query(knex, { name: 'texts', text: 'select $1::text[] as texts', values: [texts] })).toEqual([
        { texts },
      ]);
    },
  );

  test('may return nothing', async () => {
    const insert = async (text: string) =>
      query(knex, { name: 'insert', text: 'insert into notes (text) values ($1)', values: [text] });
    expect([await insert('one'), await insert('two')]).toEqual([[], []]);
    expect(await query(knex, { text: 'select text from notes order by id' })).toEqual([
      { text: 'one' },
      { text: 'two' },
    ]);
  });

  test('is part of a transaction', async () => {
    await knex
      .transaction(async (trx) => {
        await query(trx, { name: 'insert', text: 'insert into notes (text) values ($1)', values: ['three'] });
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await query(knex, { text: 'select 1 from notes where text = $1', values: ['three'] })).toEqual([]);
  });

  test('works again after errors of the server and of a value', async () => {
    const divide = async (by: unknown) =>
      query(knex, { name: 'divide', text: 'select 6 / $1::int as result', values: [by] });
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(databaseFailure(await errorOf(divide(0)))).toBe('refused');
    expect(await divide(3)).toEqual([{ result: 2 }]);
    expect(await errorOf(divide(circular))).toBeInstanceOf(TypeError);
    expect(await divide(2)).toEqual([{ result: 3 }]);
  });

  test('has one text', async () => {
    await query(knex, { name: 'one', text: 'select 1 as one' });
    expect(await errorOf(query(knex, { name: 'one', text: 'select 2 as one' }))).toMatchObject({
      message: 'the prepared statement one has another text',
    });
    expect(await query(knex, { name: 'one', text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });
});

describe('a prepared statement whose columns a migration changes is prepared again', () => {
  const READ = { name: 'stale', text: 'select id from changing' };
  const read = async (db: Knex) => query(db, READ);
  const change = async (type: string) =>
    knex.raw(`alter table changing alter column id type ${type} using id::${type}`);
  beforeEach(async () => {
    await knex.raw('drop table if exists changing');
    await knex.raw('create table changing (id int)');
    await knex.raw('insert into changing values (1)');
    // The first one may replace the connection, whose statement is that of the previous test.
    for (const _ of [1, 2]) await read(knex);
  });
  const migrateNow = async () => change('text');
  const CHANGED = [{ id: '1' }];

  test('outside of a transaction, alone and together with others', async () => {
    await migrateNow();
    expect(await read(knex)).toEqual(CHANGED);
    // That connection was closed.
    await read(knex);
    await change('bigint');
    const insert = { name: 'remember', text: 'insert into notes (text) values ($1)', values: ['stale'] };
    expect(await pipeline(knex, [insert, READ])).toEqual([[], [{ id: 1 }]]);
    // Once, although it was sent twice.
    expect(await query(knex, { text: 'select text from notes where text = $1', values: ['stale'] })).toEqual([
      { text: 'stale' },
    ]);
  });

  test('as the first of a transaction', async () => {
    await migrateNow();
    expect(await knex.transaction(read)).toEqual(CHANGED);
  });

  test('and later in a transaction is a conflict, once', async () => {
    await migrateNow();
    const work = async (trx: Knex.Transaction) => {
      await trx.raw('select 1');
      return read(trx);
    };
    expect(databaseFailure(await errorOf(knex.transaction(work)))).toBe('conflict');
    expect(await knex.transaction(work)).toEqual(CHANGED);
  });

  test('and what the server cannot do is no conflict', async () => {
    const unsupported = `do $$ begin raise exception using errcode = '0A000', message = 'not supported'; end $$`;
    expect(databaseFailure(await errorOf(knex.raw(unsupported)))).toBe('refused');
  });
});

test('of composed statements only the first are prepared', async () => {
  for (let number = 0; number < 40; number += 1) {
    const text = `select ${number} as number`;
    for (const _ of [1, 2])
      expect(await query(knex, { name: 'composed', text, isComposed: true })).toEqual([{ number }]);
  }
  expect((await preparedNames()).filter((name) => name.startsWith('composed-'))).toHaveLength(32);
});

describe('statements of a transaction that are sent together', () => {
  const insert = (text: unknown) => ({
    name: 'insert-note',
    text: 'insert into notes (text) values ($1) returning text',
    values: [text],
  });
  const texts = async (prefix: string) =>
    knex('notes').where('text', 'like', `${prefix}%`).orderBy('id').pluck<string[]>('text');

  test('return the rows of each, and commit at the end', async () => {
    const results: unknown[][][] = [];
    for (const number of [1, 2]) {
      await knex.transaction(async (trx) => {
        const one = { text: 'select 1 as one where $1::int = 1', values: [number] };
        results.push(await pipeline(trx, [one, insert(`a${number}`), insert(`b${number}`)]));
        results.push(await pipeline(trx, [insert(`c${number}`)], { commit: true }));
      });
    }
    expect(results).toEqual([
      [[{ one: 1 }], [{ text: 'a1' }], [{ text: 'b1' }]],
      [[{ text: 'c1' }]],
      [[], [{ text: 'a2' }], [{ text: 'b2' }]],
      [[{ text: 'c2' }]],
    ]);
    expect([await texts('a'), await texts('b'), await texts('c')]).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2'],
      ['c1', 'c2'],
    ]);
  });

  test('take effect together or not at all, whichever fails', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const divide = { name: 'divide', text: 'select 6 / $1::int as result', values: [0] };
    const unparsable = { name: 'unparsable', text: 'select of nothing' };
    const attempts = [
      [insert('d1'), divide],
      [divide, insert('d2')],
      [insert('d3'), unparsable, insert('d4')],
      [insert('d5'), insert(circular), insert('d6')],
    ];
    for (const statements of attempts) {
      const failed = await errorOf(knex.transaction(async (trx) => pipeline(trx, statements, { commit: true })));
      expect(failed).toBeInstanceOf(Error);
      const later = await errorOf(
        knex.transaction(async (trx) => {
          await trx.raw('select 1');
          await pipeline(trx, statements, { commit: true });
        }),
      );
      expect(later).toBeInstanceOf(Error);
    }
    expect(await texts('d')).toEqual([]);
    await knex.transaction(async (trx) => pipeline(trx, [insert('d7')], { commit: true }));
    expect(await texts('d')).toEqual(['d7']);
  });

  test('report an error that the COMMIT finds', async () => {
    await knex.raw('create table parents (id int primary key)');
    await knex.raw('create table children (parent int references parents deferrable initially deferred)');
    const child = { text: 'insert into children values (1)' };
    expect(await errorOf(knex.transaction(async (trx) => pipeline(trx, [child], { commit: true })))).toMatchObject({
      code: '23503',
    });
    expect(await knex('children').select('parent')).toEqual([]);
  });

  test('nothing runs after the COMMIT', async () => {
    const error = await errorOf(
      knex.transaction(async (trx) => {
        await pipeline(trx, [insert('e1')], { commit: true });
        await trx('notes').insert({ text: 'e2' });
      }),
    );
    expect(error).toMatchObject({ message: expect.stringContaining('the transaction is over') });
    expect(await texts('e')).toEqual(['e1']);
  });
});

describe('a transaction begins with its first statement', () => {
  const isolation = async (trx: Knex) => {
    const { rows } = await trx.raw<{ rows: { transaction_isolation: string }[] }>('show transaction_isolation');
    return rows[0]?.transaction_isolation;
  };
  const count = async () => Number((await knex('notes').count<{ count: string }[]>())[0]?.count);

  test('of whatever kind', async () => {
    const before = await count();
    const rollBack = async (work: (trx: Knex.Transaction) => Promise<unknown>) =>
      errorOf(
        knex.transaction(async (trx) => {
          await work(trx);
          throw new Error('rolled back');
        }),
      );
    await rollBack(async () => undefined);
    await rollBack(async (trx) => trx('notes').insert({ text: 'f' }));
    await rollBack(async (trx) => query(trx, { text: 'insert into notes (text) values ($1)', values: ['f'] }));
    await rollBack(async (trx) =>
      Promise.all([
        query(trx, { name: 'g', text: 'insert into notes (text) values ($1)', values: ['f'] }),
        trx('notes').insert({ text: 'g' }),
        query(trx, { name: 'g', text: 'insert into notes (text) values ($1)', values: ['h'] }),
      ]),
    );
    expect(await count()).toBe(before);
    await knex.transaction(async () => undefined);
  });

  test('with its isolation level', async () => {
    const level = await knex.transaction(async (trx) => isolation(trx), { isolationLevel: 'repeatable read' });
    const prepared = await knex.transaction(async (trx) => query(trx, { text: 'show transaction_isolation' }), {
      isolationLevel: 'repeatable read',
    });
    expect([level, prepared]).toEqual(['repeatable read', [{ transaction_isolation: 'repeatable read' }]]);
  });

  test('whose failure keeps the others from running outside it', async () => {
    const failed = await errorOf(
      knex.transaction(async (trx) => {
        const first = errorOf(query(trx, { text: 'select 1 / 0' }));
        const second = errorOf(Promise.resolve(trx('notes').insert({ text: 'never' })));
        await Promise.all([first, second]);
      }),
    );
    expect(failed).toMatchObject({ code: '22012' });
    expect(await knex('notes').where({ text: 'never' }).select('id')).toEqual([]);
  });
});
