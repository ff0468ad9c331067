import { expect, test } from '@jest/globals';
import { MAX_PAGE_BYTES } from '@tocsin/http';
import { readPages } from '@tocsin/testing';
import { FIELDS, freshUser, serviceForFile } from './service.ts';

const service = await serviceForFile();

test('definitions of an earlier release, of a megabyte each, are listed once and in order', async () => {
  const client = service.as(freshUser());
  const ids: number[] = [];
  for (let n = 0; n < 30; n += 1) {
    const { body } = await client.post(FIELDS, { name: `Field ${n}`, field_type: 'json', default_value: { n } });
    ids.push(body.field.id);
  }
  // Some that Postgres compresses, and some that it cannot.
  await service.knex.raw(
    `update definitions set default_value = to_jsonb(case when id % 2 = 0 then repeat('x', 1000000)
      else (select string_agg(md5(random()::text || n), '') from generate_series(1, 31250) as n) end)
    where id = any(?) and id % 5 <> 0`,
    [ids],
  );

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
