import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { databaseFailure, type Knex, openDatabase, preparesFirst, runOnce, runPrepared } from '../src/index.ts';

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  database = await createTestDatabase();
  knex = openDatabase({ url: database.adminUrl, schema: 'public', application: 'test', poolSize: 1 });
  await knex.raw('create table notes (id bigserial primary key, text text unique)');
});
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const preparedNames = async () =>
  (await knex.raw<{ rows: { name: string }[] }>('select name from pg_prepared_statements')).rows.map(
    ({ name }) => name,
  );

describe('a prepared statement', () => {
  test('returns rows of the same columns each time', async () => {
    const text = `select $1::bigint as number, null::text as nothing, $2::jsonb as value, '2026-11-20 09:30+00'::timestamptz as at`;
    const run = async (number: number) => runPrepared(knex, 'columns', text, [number, JSON.stringify({ number })]);
    const row = (number: number) => ({ number, nothing: null, value: { number }, at: '2026-11-20T09:30:00.000Z' });
    for (const number of [1, 2, 3]) expect(await run(number)).toEqual([row(number)]);
  });

  test.each([[[]], [['a']], [['a', '', 'a b', 'NULL', 'null', 'c,d', 'e"f', String.raw`g\h`, '{}', 'é']]])(
    'reads the array %j',
    async (texts) => {
      expect(await runPrepared(knex, 'texts', 'select $1::text[] as texts', [texts])).toEqual([{ texts }]);
    },
  );

  test('may return nothing', async () => {
    const insert = async (text: string) => runPrepared(knex, 'insert', 'insert into notes (text) values ($1)', [text]);
    expect([await insert('one'), await insert('two')]).toEqual([[], []]);
    expect(await runOnce(knex, 'select text from notes order by id', [])).toEqual([{ text: 'one' }, { text: 'two' }]);
  });

  test('is part of a transaction', async () => {
    await knex
      .transaction(async (trx) => {
        await runPrepared(trx, 'insert', 'insert into notes (text) values ($1)', ['three']);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await runOnce(knex, 'select 1 from notes where text = $1', ['three'])).toEqual([]);
  });

  test('works again after errors of the server and of a value', async () => {
    const divide = async (by: unknown) => runPrepared(knex, 'divide', 'select 6 / $1::int as result', [by]);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(databaseFailure(await failureOf(divide(0)))).toBe('refused');
    expect(await divide(3)).toEqual([{ result: 2 }]);
    expect(await failureOf(divide(circular))).toBeInstanceOf(TypeError);
    expect(await divide(2)).toEqual([{ result: 3 }]);
  });

  test('has one text', async () => {
    await runPrepared(knex, 'one', 'select 1 as one', []);
    expect(await failureOf(runPrepared(knex, 'one', 'select 2 as one', []))).toMatchObject({
      message: 'the prepared statement one has another text',
    });
    expect(await runPrepared(knex, 'one', 'select 1 as one', [])).toEqual([{ one: 1 }]);
  });
});

test('of composed statements only the first are prepared', async () => {
  const run = preparesFirst('composed');
  for (let number = 0; number < 40; number += 1) {
    const text = `select ${number} as number`;
    for (const _ of [1, 2]) expect(await run(knex, text, [])).toEqual([{ number }]);
  }
  expect((await preparedNames()).filter((name) => name.startsWith('composed-'))).toHaveLength(32);
});
