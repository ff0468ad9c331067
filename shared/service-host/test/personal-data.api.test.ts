import { expect, test } from '@jest/globals';
import path from 'node:path';
import { openDatabase } from '@tocsin/postgres';
import type { DataPosition, DataStep, ErasureStep } from '@tocsin/schemas';
import { createTestDatabase } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { erasePersonalData, readPersonalData } from '../src/index.ts';

const tables = { notes: { people: ['author'], texts: ['body'], place: { kind: 'note', id: 'id' } } };

const created = await createTestDatabase({
  ...{ schema: 'probe', migrations: path.join(import.meta.dirname, 'migrations') },
});
const knex = openDatabase({
  ...{ url: created.adminUrl, schema: 'probe', application: 'test', poolSize: 1 },
});
stopAfterAll({
  stop: async () => {
    await knex.destroy();
    await created.drop();
  },
});
await knex.raw(
  'create table notes (workspace_id bigint, place bigint, id bigint, author text, body text, primary key (workspace_id, place))',
);
await knex.raw(`
  insert into notes select workspace, n, n, case when n % 30 = 0 then 'Ana' else 'Bo' end,
    case when n % 50 = 0 then 'Ask Ana. ' else '' end || repeat('x', case when n between 800 and 1000 then 65536 else 9 end)
  from generate_series(1, 1200) as n, generate_series(1, 2) as workspace`);

const request = {
  ...{ workspace: { id: 1, slug: 'acme', is_demo: false }, user_id: 7, version: 0 },
  ...{ names: ['Ana'], emails: ['ana@acme.example'] },
};

async function walk<Step extends { next: DataPosition | null }>(
  step: (position: DataPosition | null) => Promise<Step>,
): Promise<Step[]> {
  const steps: Step[] = [];
  let position: DataPosition | null = null;
  do {
    const each: Step = await step(position);
    steps.push(each);
    position = each.next;
  } while (position !== null);
  return steps;
}

const multiplesOf = (...numbers: number[]) =>
  Array.from({ length: 1_200 }, (_, index) => index + 1).filter((id) => numbers.some((each) => id % each === 0));

test('all rows of a person are shown once, in order, and erased, however large they are', async () => {
  const shown = await walk<DataStep>(async (position) => readPersonalData(knex, tables, { ...request, position }));
  expect(shown.flatMap(({ rows }) => rows.map(({ row }) => row['id']))).toEqual(multiplesOf(30, 50));

  const erased = await walk<ErasureStep>(async (position) => erasePersonalData(knex, tables, { ...request, position }));
  expect(erased.flatMap(({ places }) => places.map(({ id }) => Number(id)))).toEqual(multiplesOf(50));
  const { rows } = await knex.raw('select id::integer from notes where author = ? order by id', ['Former user 7']);
  expect(rows.map(({ id }: { id: number }) => id)).toEqual(multiplesOf(30));
  const left = await knex('notes').where({ author: 'Ana' }).orderBy('place');
  expect(left.map(({ workspace_id: workspace, id }) => [workspace, id])).toEqual(multiplesOf(30).map((id) => [2, id]));
});
