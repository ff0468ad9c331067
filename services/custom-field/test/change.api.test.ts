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
  test('accepts every property of a create except slug and type, and also the sort order', async () => {
    const { client, path } = await define({ field_type: 'select', config: { options: ['a'] } });
    const change = {
      name: 'Other',
      description: 'What it is for',
      default_value: 'b',
      config: { options: ['a', 'b'] },
      required: true,
      sort_order: -5,
      category: 'external',
      visibility_level: 'collapsed',
      show_on_creation: true,
      required_on_creation: true,
      auto_add_to_layout: true,
      external_source: 'erp',
    };
    const { status, body, headers } = await client.patch(path, change, revision(1));
    expect(status).toBe(200);
    expect(headers.get('Service-Resource-Version')).toBe('2');
    expect(body.field).toMatchObject({ ...change, revision: 2, slug: 'field', field_type: 'select' });
    expect((await client.get(path)).body).toEqual(body);
    for (const property of ['slug', 'field_type', 'id', 'revision', 'archived_at']) {
      const refused = await client.patch(path, { [property]: body.field[property] ?? null }, revision(2));
      expect(refused).toMatchObject(refusal(400, 'unknown_field', { field: property }));
    }
  });

  test('requires the present revision', async () => {
    const { client, path } = await define({ field_type: 'date' });
    expect(await client.patch(path, { name: 'x' })).toMatchObject(refusal(428, 'precondition_required'));
    expect(await client.patch(path, { name: 'x' }, { 'If-Service-Resource-Version': '"1"' })).toMatchObject(
      refusal(400, 'invalid_precondition'),
    );
    expect(await client.patch(path, { name: 'x' }, revision(2))).toMatchObject(
      refusal(412, 'precondition_failed', { field: 'If-Service-Resource-Version' }),
    );
    expect((await client.get(path)).body.field).toMatchObject({ name: 'Field', revision: 1 });
  });

  test('succeeds for one of many concurrent changes of the same revision', async () => {
    const { client, path } = await define({ field_type: 'date' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => client.patch(path, { name: `name ${index}` }, revision(1))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
  });

  test('with equal values changes nothing', async () => {
    const { client, path } = await define({
      field_type: 'monetary',
      description: 'd',
      config: { min: 0, max: 5, currencies: ['EUR', 'USD'] },
      default_value: { amount: 0, currency: 'EUR' },
    });
    const before = await client.get(path);
    const same = {
      name: ' Field ',
      description: 'd',
      default_value: { currency: 'EUR', amount: 0 },
      config: { currencies: ['EUR', 'USD'], max: 5, min: 0 },
      sort_order: 1,
    };
    for (const body of [{}, same, '{"config":{"max":5,"min":-0,"currencies":["EUR","USD"]}}']) {
      const answer = await client.patch(path, body, revision(1));
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before.body);
    }
  });

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

describe('archiving a definition', () => {
  test('leaves it readable but read-only until it is restored', async () => {
    const { client, path, field } = await define({ field_type: 'date' });
    const archived = await client.delete(path);
    expect(archived.status).toBe(200);
    expect(archived.headers.get('Service-Resource-Version')).toBe('2');
    expect(archived.body.field).toMatchObject({ id: field.id, revision: 2, archived_at: expect.any(String) });
    expect((await client.get(path)).body).toEqual(archived.body);
    expect((await client.get(FIELDS)).body.fields).toEqual([]);
    expect((await client.get(`${FIELDS}?include_archived=true`)).body.fields).toEqual([archived.body.field]);

    const wrongState = refusal(409, 'invalid_resource_state');
    expect(await client.delete(path)).toMatchObject(wrongState);
    // The state is checked before the revision.
    expect(await client.patch(path, { name: 'x' }, revision(1))).toMatchObject(wrongState);

    const restored = await client.post(`${path}/restore`);
    expect(restored.status).toBe(200);
    expect(restored.body.field).toMatchObject({ revision: 3 });
    expect(restored.body.field).not.toHaveProperty('archived_at');
    expect(await client.post(`${path}/restore`)).toMatchObject(wrongState);
    expect((await client.patch(path, { name: 'x' }, revision(3))).status).toBe(200);
  });

  test('returns not_found for an unknown ID', async () => {
    const client = service.as(freshUser());
    for (const answer of [
      await client.get(`${FIELDS}/999999`),
      await client.patch(`${FIELDS}/999999`, {}, revision(1)),
      await client.delete(`${FIELDS}/999999999999999999999`),
      await client.post(`${FIELDS}/999999/restore`),
    ]) {
      expect(answer).toMatchObject(refusal(404, 'not_found'));
    }
    for (const id of ['0', '-1', '1.5', 'x', '1e3']) {
      expect(await client.get(`${FIELDS}/${id}`)).toMatchObject(refusal(400, 'invalid_request', { field: 'id' }));
    }
  });
});

describe('the list', () => {
  test('is sorted by sort order, time of creation, then ID, and has each definition once over all pages', async () => {
    const client = service.as(freshUser());
    for (let index = 0; index < 7; index += 1) await client.post(FIELDS, { name: `f${index}`, field_type: 'date' });
    const all = (await client.get(FIELDS)).body.fields as { id: number; name: string }[];
    // Moves the first to the end, and gives two the same sort order as a third.
    await client.patch(`${FIELDS}/${all[0]!.id}`, { sort_order: 100 }, revision(1));
    for (const index of [3, 2]) await client.patch(`${FIELDS}/${all[index]!.id}`, { sort_order: 5 }, revision(1));
    const expected = ['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f0'];

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await client.get(`${FIELDS}?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.fields.map(({ name }: { name: string }) => name));
      expect(body.pagination.has_more).toBe(body.pagination.next_cursor !== undefined);
      expect(body.pagination.limit).toBe(2);
      cursor = body.pagination.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(expected);
    expect((await client.get(FIELDS)).body.pagination).toEqual({ limit: 50, has_more: false });
  });

  test('refuses a cursor of another list and unknown parameters', async () => {
    const client = service.as(freshUser());
    for (const name of ['a', 'b']) await client.post(FIELDS, { name, field_type: 'date' });
    const { next_cursor: cursor } = (await client.get(`${FIELDS}?limit=1`)).body.pagination;
    expect((await client.get(`${FIELDS}?limit=1&include_archived=false&cursor=${cursor}`)).status).toBe(200);
    const invalid = (field: string) => refusal(400, 'invalid_request', { field });
    expect(await client.get(`${FIELDS}?include_archived=true&cursor=${cursor}`)).toMatchObject(invalid('cursor'));
    expect(await service.as(freshUser()).get(`${FIELDS}?cursor=${cursor}`)).toMatchObject(invalid('cursor'));
    expect(await client.get(`${FIELDS}?cursor=x`)).toMatchObject(invalid('cursor'));
    expect(await client.get(`${FIELDS}?limit=101`)).toMatchObject(invalid('limit'));
    expect(await client.get(`${FIELDS}?include_archived=yes`)).toMatchObject(invalid('include_archived'));
    expect(await client.get(`${FIELDS}?archived=true`)).toMatchObject(invalid('archived'));
  });
});
