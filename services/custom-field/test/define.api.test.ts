import { describe, expect, test } from '@jest/globals';
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

  test.each<[string, Record<string, unknown>, string, string]>([
    ['a blank name', { name: ' \n' }, 'invalid_request', 'name'],
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
  ])('refuses %s', async (_what, change, code, field) => {
    const { status, body } = await service
      .as(freshUser())
      .post(FIELDS, { name: 'Cause', field_type: 'string', ...change });
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
  });
});

describe('the config of a type and the default value', () => {
  test.each<[string, unknown, unknown, string, string]>([
    ['string', { max_length: 3 }, 'abcd', 'invalid_request', 'default_value'],
    ['string', { pattern: 'a' }, undefined, 'unknown_field', 'config.pattern'],
    ['number', { min: 2, max: 1 }, undefined, 'invalid_request', 'config.max'],
    ['monetary', { currency: 'EUR', currencies: ['EUR'] }, undefined, 'invalid_request', 'config.currencies'],
    ['monetary', { currency: 'EUR' }, { amount: 1, currency: 'USD' }, 'invalid_request', 'default_value.currency'],
    ['select', undefined, undefined, 'invalid_request', 'config.options'],
    ['select', { options: ['a', { value: 'b', rank: 1 }] }, undefined, 'unknown_field', 'config.options.1.rank'],
    ['multi_select', { options: ['a', 'b'] }, ['a', 'c'], 'invalid_request', 'default_value.1'],
    ['string', [], undefined, 'invalid_request', 'config'],
  ])('%s with %j and %j is refused', async (field_type, config, default_value, code, field) => {
    const client = service.as(freshUser());
    const { status, body } = await client.post(FIELDS, { name: 'x', field_type, config, default_value });
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code, field });
    expect((await client.get(FIELDS)).body.fields).toEqual([]);
  });
});
