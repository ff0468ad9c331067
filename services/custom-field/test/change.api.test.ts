import { describe, expect, test } from '@jest/globals';
import { type Client, refusal } from '@tocsin/testing';
import { FIELDS, freshUser, revision, serviceForFile } from './service.ts';

const service = await serviceForFile();

/** Creates a definition in a new workspace. */
async function define(body: Record<string, unknown>): Promise<{ client: Client; path: string; field: { id: number } }> {
  const client = service.as(freshUser());
  const answer = await client.post(FIELDS, { name: 'Field', ...body });
  expect(answer.status).toBe(201);
  return { client, path: `${FIELDS}/${answer.body.field.id}`, field: answer.body.field };
}

describe('changing a definition', () => {
  test('null clears the properties that can be empty', async () => {
    const { client, path } = await define({
      field_type: 'string',
      description: 'd',
      default_value: 'v',
      config: { max_length: 5 },
      category: 'external',
      external_source: 'erp',
    });
    const cleared = { description: null, default_value: null, config: null, external_source: null, category: 'custom' };
    const { body } = await client.patch(path, cleared, revision(1));
    for (const property of ['description', 'default_value', 'config', 'external_source']) {
      expect(body.field).not.toHaveProperty(property);
    }
    expect((await client.get(path)).body).toEqual(body);
    for (const property of ['name', 'required', 'sort_order', 'category', 'visibility_level', 'show_on_creation']) {
      const refused = await client.patch(path, { [property]: null }, revision(2));
      expect(refused).toMatchObject(refusal(400, 'invalid_request', { field: property }));
    }
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string, string]>([
    [
      'a config that does not fit the stored default',
      { field_type: 'string', default_value: 'abcd' },
      { config: { max_length: 3 } },
      'invalid_request',
      'default_value',
    ],
    [
      'a default that the stored config does not allow',
      { field_type: 'select', config: { options: ['a'] } },
      { default_value: 'b' },
      'invalid_request',
      'default_value',
    ],
    [
      'options without the default',
      { field_type: 'multi_select', config: { options: ['a', 'b'] }, default_value: ['a', 'b'] },
      { config: { options: ['a'] } },
      'invalid_request',
      'default_value.1',
    ],
    ['a default of another type', { field_type: 'number' }, { default_value: '1' }, 'invalid_request', 'default_value'],
    [
      "another type's option",
      { field_type: 'number' },
      { config: { max_length: 1 } },
      'unknown_field',
      'config.max_length',
    ],
    [
      'no options for a select',
      { field_type: 'select', config: { options: ['a'] } },
      { config: null },
      'invalid_request',
      'config.options',
    ],
    [
      'not showing a field that creation requires',
      { field_type: 'date', show_on_creation: true, required_on_creation: true },
      { show_on_creation: false },
      'invalid_request',
      'required_on_creation',
    ],
    [
      'requiring a field that creation does not show',
      { field_type: 'date' },
      { required_on_creation: true },
      'invalid_request',
      'required_on_creation',
    ],
    [
      'leaving the category external with the source',
      { field_type: 'date', category: 'external', external_source: 'erp' },
      { category: 'impact' },
      'invalid_request',
      'external_source',
    ],
    [
      'an external field without its source',
      { field_type: 'date', category: 'external', external_source: 'erp' },
      { external_source: null },
      'invalid_request',
      'external_source',
    ],
    ['a sort order out of range', { field_type: 'date' }, { sort_order: 2 ** 31 }, 'invalid_request', 'sort_order'],
  ])('refuses %s', async (_what, definition, change, code, field) => {
    const { client, path } = await define(definition);
    const { status, body } = await client.patch(path, change, revision(1));
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
    expect((await client.get(path)).body.field.revision).toBe(1);
  });

  test('the highest sort order is shared by the definitions created after it', async () => {
    const { client, path } = await define({ field_type: 'date' });
    expect((await client.patch(path, { sort_order: 2_147_483_647 }, revision(1))).status).toBe(200);
    const next = await client.post(FIELDS, { name: 'Next', field_type: 'date' });
    expect(next.body.field.sort_order).toBe(2_147_483_647);
    expect((await client.get(FIELDS)).body.fields.map(({ name }: { name: string }) => name)).toEqual(['Field', 'Next']);
  });
});
