import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { FIELDS, freshUser, serviceForFile } from './service.ts';

const service = await serviceForFile();

describe('creating a definition', () => {
  test('returns the definition with defaults; properties without a value are absent', async () => {
    const user = freshUser();
    const { status, body, headers } = await service
      .as(user)
      .post(FIELDS, { name: '  Root cause ', field_type: 'string' });
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('1');
    expect(body).toEqual({
      field: {
        id: expect.any(Number),
        revision: 1,
        company_id: user.workspace?.id,
        name: 'Root cause',
        slug: 'root_cause',
        field_type: 'string',
        required: false,
        sort_order: 1,
        category: 'custom',
        visibility_level: 'standard',
        show_on_creation: false,
        required_on_creation: false,
        auto_add_to_layout: false,
        created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        updated_at: body.field.created_at,
      },
    });
    const again = await service.as(user).get(`${FIELDS}/${body.field.id}`);
    expect(again.body).toEqual(body);
    expect(again.headers.get('Service-Resource-Version')).toBe('1');
  });

  test('stores every given property', async () => {
    const given = {
      name: 'Cost',
      slug: 'cost-eur',
      field_type: 'monetary',
      description: '',
      default_value: { amount: 0.5, currency: 'EUR' },
      config: { min: 0, max: 1_000_000, precision: 2, currencies: ['EUR', 'USD'] },
      required: true,
      category: 'external',
      visibility_level: 'prominent',
      show_on_creation: true,
      required_on_creation: true,
      auto_add_to_layout: true,
      external_source: ' erp ',
    };
    const { status, body } = await service.as(freshUser()).post(FIELDS, given);
    expect(status).toBe(201);
    expect(body.field).toMatchObject({ ...given, external_source: 'erp' });
  });

  test('treats null as absent for properties that can be cleared', async () => {
    const { status, body } = await service.as(freshUser()).post(FIELDS, {
      name: 'Note',
      field_type: 'json',
      description: null,
      default_value: null,
      config: null,
      external_source: null,
    });
    expect(status).toBe(201);
    for (const property of ['description', 'default_value', 'config', 'external_source', 'archived_at']) {
      expect(body.field).not.toHaveProperty(property);
    }
  });

  test('gives each the next sort order and its own slug, also concurrently', async () => {
    const client = service.as(freshUser());
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => client.post(FIELDS, { name: 'Same name', field_type: 'string' })),
    );
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
    expect(answers.map(({ body }) => body.field.sort_order).sort((a, b) => a - b)).toEqual(numbers);
    expect(new Set(answers.map(({ body }) => body.field.slug))).toEqual(
      new Set(numbers.map((number) => (number === 1 ? 'same_name' : `same_name_${number}`))),
    );
  });

  test('a workspace sees only its own definitions', async () => {
    const { body } = await service.as(freshUser()).post(FIELDS, { name: 'Mine', field_type: 'string' });
    const other = service.as(freshUser());
    expect((await other.get(`${FIELDS}/${body.field.id}`)).body).toMatchObject({ code: 'not_found' });
    expect((await other.delete(`${FIELDS}/${body.field.id}`)).status).toBe(404);
    expect((await other.get(FIELDS)).body.fields).toEqual([]);
    expect((await other.post(FIELDS, { name: 'Mine', field_type: 'string' })).body.field.slug).toBe('mine');
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['no name', { name: undefined }, 'invalid_request', 'name'],
    ['a blank name', { name: ' \n' }, 'invalid_request', 'name'],
    ['a name of 65 characters', { name: '🔥'.repeat(65) }, 'invalid_request', 'name'],
    ['a name that is not a text', { name: 5 }, 'invalid_request', 'name'],
    ['no type', { field_type: undefined }, 'invalid_request', 'field_type'],
    ['an unknown type', { field_type: 'multiselect' }, 'invalid_request', 'field_type'],
    ['an unknown property', { colour: 'red' }, 'unknown_field', 'colour'],
    ['a sort order', { sort_order: 1 }, 'unknown_field', 'sort_order'],
    ['an upper-case slug', { slug: 'Cause' }, 'invalid_request', 'slug'],
    ['an empty slug', { slug: '' }, 'invalid_request', 'slug'],
    ['a null slug', { slug: null }, 'invalid_request', 'slug'],
    ['a name without a letter for a slug', { name: '影響 1' }, 'invalid_request', 'slug'],
    ['an unknown category', { category: 'other' }, 'invalid_request', 'category'],
    ['an unknown visibility', { visibility_level: 'hidden' }, 'invalid_request', 'visibility_level'],
    ['a null flag', { required: null }, 'invalid_request', 'required'],
    ['a null category', { category: null }, 'invalid_request', 'category'],
    [
      'a required field that is not shown on creation',
      { required_on_creation: true },
      'invalid_request',
      'required_on_creation',
    ],
    ['the category external alone', { category: 'external' }, 'invalid_request', 'external_source'],
    ['a blank source', { category: 'external', external_source: ' ' }, 'invalid_request', 'external_source'],
    ['a source alone', { external_source: 'erp' }, 'invalid_request', 'external_source'],
    [
      'a source in another category',
      { category: 'impact', external_source: 'erp' },
      'invalid_request',
      'external_source',
    ],
    ['text that cannot be stored', { description: 'a\u0000b' }, 'invalid_request', 'description'],
  ])('refuses %s', async (_what, change, code, field) => {
    const { status, body } = await service
      .as(freshUser())
      .post(FIELDS, { name: 'Cause', field_type: 'string', ...change });
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
  });

  test.each(['context', 'impact', 'analysis', 'custom'])(
    'accepts the category %s without a source',
    async (category) => {
      const { body } = await service.as(freshUser()).post(FIELDS, { name: 'x', field_type: 'date', category });
      expect(body.field).toMatchObject({ category });
      expect(body.field).not.toHaveProperty('external_source');
    },
  );

  test.each(['always', 'prominent', 'standard', 'collapsed'])('accepts the visibility %s', async (visibility_level) => {
    const { body } = await service.as(freshUser()).post(FIELDS, { name: 'x', field_type: 'date', visibility_level });
    expect(body.field).toMatchObject({ visibility_level });
  });

  test('a slug stays taken, by archived definitions too', async () => {
    const client = service.as(freshUser());
    const { body } = await client.post(FIELDS, { name: 'One', slug: 'taken', field_type: 'string' });
    const duplicate = refusal(409, 'duplicate_slug', { field: 'slug' });
    expect(await client.post(FIELDS, { name: 'Two', slug: 'taken', field_type: 'date' })).toMatchObject(duplicate);
    await client.delete(`${FIELDS}/${body.field.id}`);
    expect(await client.post(FIELDS, { name: 'Two', slug: 'taken', field_type: 'date' })).toMatchObject(duplicate);
    const derived = await client.post(FIELDS, { name: 'Taken', field_type: 'date' });
    expect(derived.body.field.slug).toBe('taken_2');
  });
});

describe('the config of a type and the default value', () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    ['string', { max_length: 4 }, '🔥🔥🔥🔥'],
    ['string', {}, ''],
    ['number', { min: -1, max: 2.5, precision: 1 }, 2.5],
    ['number', {}, 0],
    ['boolean', {}, false],
    ['date', {}, '2024-02-29'],
    ['time', {}, '09:30'],
    ['datetime', {}, '2026-11-20T09:30:00+01:00'],
    ['monetary', { currency: 'EUR', precision: 2, min: 0, max: 10 }, { amount: 9.99, currency: 'EUR' }],
    ['monetary', { currencies: ['EUR', 'USD'] }, { amount: -1, currency: 'USD' }],
    ['json', {}, { a: [null, { b: [] }] }],
    ['json', {}, false],
    ['select', { options: ['a', { value: 'b', label: 'B', color: '#fff' }] }, 'b'],
    ['select', { allow_custom: true }, 'anything'],
    ['multi_select', { options: ['a', 'b'] }, []],
    ['multi_select', { options: ['a', 'b'], allow_custom: true }, ['b', 'c']],
  ])('%s with %j accepts the default %j', async (field_type, config, default_value) => {
    const client = service.as(freshUser());
    const { status, body } = await client.post(FIELDS, { name: 'x', field_type, config, default_value });
    expect(status).toBe(201);
    expect(body.field).toMatchObject({ config, default_value });
    expect((await client.get(`${FIELDS}/${body.field.id}`)).body).toEqual(body);
  });

  test.each<[string, unknown, unknown, string, string]>([
    ['string', { max_length: 3 }, 'abcd', 'invalid_request', 'default_value'],
    ['string', undefined, 5, 'invalid_request', 'default_value'],
    ['string', { max_length: 0 }, undefined, 'invalid_request', 'config.max_length'],
    ['string', { pattern: 'a' }, undefined, 'unknown_field', 'config.pattern'],
    ['string', { options: ['a'] }, undefined, 'unknown_field', 'config.options'],
    ['number', { precision: 1 }, 0.25, 'invalid_request', 'default_value'],
    ['number', { precision: 11 }, undefined, 'invalid_request', 'config.precision'],
    ['number', { min: 2, max: 1 }, undefined, 'invalid_request', 'config.max'],
    ['number', { currency: 'EUR' }, undefined, 'unknown_field', 'config.currency'],
    ['boolean', { min: 1 }, undefined, 'unknown_field', 'config.min'],
    ['boolean', undefined, 'true', 'invalid_request', 'default_value'],
    ['date', { precision: 0 }, undefined, 'unknown_field', 'config.precision'],
    ['date', undefined, '2026-02-30', 'invalid_request', 'default_value'],
    ['time', undefined, '24:00', 'invalid_request', 'default_value'],
    ['datetime', undefined, '2026-11-20T09:30:00', 'invalid_request', 'default_value'],
    ['monetary', { currency: 'EUR', currencies: ['EUR'] }, undefined, 'invalid_request', 'config.currencies'],
    ['monetary', { currency: 'eur' }, undefined, 'invalid_request', 'config.currency'],
    ['monetary', { max_length: 1 }, undefined, 'unknown_field', 'config.max_length'],
    ['monetary', { currency: 'EUR' }, { amount: 1, currency: 'USD' }, 'invalid_request', 'default_value.currency'],
    ['monetary', { max: 1 }, { amount: 2, currency: 'USD' }, 'invalid_request', 'default_value.amount'],
    ['monetary', undefined, { amount: 1, currency: 'USD', rate: 1 }, 'unknown_field', 'default_value.rate'],
    ['json', { allow_custom: true }, undefined, 'unknown_field', 'config.allow_custom'],
    ['select', undefined, undefined, 'invalid_request', 'config.options'],
    ['select', null, undefined, 'invalid_request', 'config.options'],
    ['select', { options: [] }, undefined, 'invalid_request', 'config.options'],
    ['select', { options: ['a', 'a'] }, undefined, 'invalid_request', 'config.options.1'],
    ['select', { options: ['a', { value: 'b', rank: 1 }] }, undefined, 'unknown_field', 'config.options.1.rank'],
    ['select', { options: ['a', { label: 'B' }] }, undefined, 'invalid_request', 'config.options.1.value'],
    ['select', { options: ['a'], max: 1 }, undefined, 'unknown_field', 'config.max'],
    ['select', { options: ['a'] }, 'b', 'invalid_request', 'default_value'],
    ['multi_select', { options: ['a', 'b'] }, ['a', 'c'], 'invalid_request', 'default_value.1'],
    ['multi_select', { options: ['a', 'b'] }, ['a', 'a'], 'invalid_request', 'default_value.1'],
    ['multi_select', { options: ['a'] }, 'a', 'invalid_request', 'default_value'],
    ['string', [], undefined, 'invalid_request', 'config'],
    ['string', { max_length: null }, undefined, 'invalid_request', 'config.max_length'],
  ])('%s with %j and %j is refused', async (field_type, config, default_value, code, field) => {
    const client = service.as(freshUser());
    const { status, body } = await client.post(FIELDS, { name: 'x', field_type, config, default_value });
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
    expect((await client.get(FIELDS)).body.fields).toEqual([]);
  });
});
