import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_PAGE_BYTES } from '@tocsin/http';
import { openDatabase } from '@tocsin/postgres';
import { readPages } from '@tocsin/testing';
import { schema } from '../src/schema.ts';
import { FIELDS, freshUser, startService, type TestService } from './service.ts';

let service: TestService;
beforeAll(async () => void (service = await startService()));
afterAll(async () => service.stop());

test('definitions of an earlier release, of a megabyte each, are listed once and in order', async () => {
  const client = service.as(freshUser());
  const ids: number[] = [];
  for (let n = 0; n < 30; n += 1) {
    const { body } = await client.post(FIELDS, { name: `Field ${n}`, field_type: 'json', default_value: { n } });
    ids.push(body.field.id);
  }
  const url = service.database.url(schema.name);
  const database = openDatabase({ url, schema: schema.name, application: 'test', poolSize: 1 });
  // Some that Postgres compresses, and some that it cannot.
  await database.raw(
    `update definitions set default_value = to_jsonb(case when id % 2 = 0 then repeat('x', 1000000)
      else (select string_agg(md5(random()::text || n), '') from generate_series(1, 31250) as n) end)
    where id = any(?) and id % 5 <> 0`,
    [ids],
  );
  await database.destroy();

  const list = await readPages(client, FIELDS, 'fields');
  expect(list.ids).toEqual(ids);
  // Four of the large ones fit into a page.
  expect(list.pages.length).toBeGreaterThanOrEqual(6);
  for (const { bytes } of list.pages) expect(bytes).toBeLessThan(MAX_PAGE_BYTES + 1_000);
  const { body } = await client.get(`${FIELDS}?limit=2`);
  for (const field of body.fields) {
    expect((await client.get(`${FIELDS}/${field.id}`)).body.field).toEqual(field);
  }
});
