import { expect, test } from '@jest/globals';
import { FIELDS, freshUser, revision, serviceForFile } from './service.ts';

const service = await serviceForFile();

const options = (count: number, length = 4) =>
  Array.from({ length: count }, (_, index) => String(index).padStart(length, '0'));

test.each<[string, Record<string, unknown>, string, string]>([
  [
    'more than 1,000 options',
    { field_type: 'select', config: { options: options(1_001) } },
    'config.options',
    'Must have at most 1000 items',
  ],
  [
    'an option of more than 200 characters',
    { field_type: 'select', config: { options: ['a', 'b'.repeat(201)] } },
    'config.options.1',
    'Must be at most 200 characters',
  ],
  [
    'texts of more than 10,000 characters',
    { field_type: 'string', config: { max_length: 10_001 } },
    'config.max_length',
    'Must be at most 10000',
  ],
  [
    'options of more than 64 KiB',
    { field_type: 'select', config: { options: options(400, 200) } },
    'config',
    'Must be smaller: a definition must be at most 65536 bytes of compact JSON',
  ],
  [
    'a default of more than 64 KiB',
    { field_type: 'json', default_value: 'x'.repeat(65_536) },
    'default_value',
    'Must be smaller: a definition must be at most 65536 bytes of compact JSON',
  ],
])('a definition with %s is refused', async (_, definition, field, message) => {
  const { status, body } = await service.as(freshUser()).post(FIELDS, { name: 'x', ...definition });
  expect({ status, code: body.code, field: body.field, message: body.message }).toEqual({
    status: 400,
    code: 'invalid_request',
    field,
    message,
  });
});

test('a definition may have 1,000 options, and texts of 10,000 characters', async () => {
  const client = service.as(freshUser());
  const select = { name: 'x', field_type: 'select', config: { options: options(1_000) } };
  expect((await client.post(FIELDS, select)).status).toBe(201);
  const text = { name: 'x', field_type: 'string', config: { max_length: 10_000 }, default_value: 'é'.repeat(10_000) };
  expect((await client.post(FIELDS, text)).status).toBe(201);
});

test('a definition that was stored before the limits can be changed, and not grow', async () => {
  const user = freshUser();
  const client = service.as(user);
  const { body } = await client.post(FIELDS, { name: 'x', field_type: 'json', default_value: 1 });
  const path = `${FIELDS}/${body.field.id}`;
  const large = 'x'.repeat(100_000);
  await service
    .knex('definitions')
    .where({ id: body.field.id })
    .update({ default_value: JSON.stringify(large) });
  expect((await client.get(path)).body.field.default_value).toBe(large);
  expect((await client.patch(path, { description: 'longer than null', required: true }, revision(1))).status).toBe(400);
  expect((await client.patch(path, { required: true }, revision(1))).body.field.default_value).toBe(large);
  const smaller = await client.patch(path, { default_value: 'x', description: 'longer than null' }, revision(2));
  expect(smaller.status).toBe(200);
});

test.each([
  ['"field_type":"number","config":{"min":0.289999999999999999}', 'config.min'],
  ['"field_type":"monetary","config":{"max":900719925474099.99}', 'config.max'],
  ['"field_type":"number","config":{"precision":2},"default_value":0.289999999999999999', 'default_value'],
  ['"field_type":"monetary","default_value":{"amount":1E-400,"currency":"EUR"}', 'default_value.amount'],
  ['"field_type":"json","default_value":{"a":[{"b":1,"\\u0062":2}]}', 'default_value.a.0.b'],
  ['"field_type":"json","name":"y"', 'name'],
])('a definition with %s, which would not be stored as written, is refused', async (properties, field) => {
  const { status, body } = await service.as(freshUser()).post(FIELDS, `{"name":"x",${properties}}`);
  expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code: 'invalid_request', field });
});
