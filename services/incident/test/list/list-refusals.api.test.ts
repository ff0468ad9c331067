import { describe, expect, test } from '@jest/globals';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const workspace = freshWorkspace(service);
await workspace.define({ slug: 'text' });
await workspace.define({ slug: 'number', field_type: 'number' });
await workspace.define({ slug: 'flag', field_type: 'boolean' });
await workspace.define({ slug: 'day', field_type: 'date' });
await workspace.define({ slug: 'hour', field_type: 'time' });
await workspace.define({ slug: 'moment', field_type: 'datetime' });
await workspace.define({ slug: 'money', field_type: 'monetary' });
await workspace.define({ slug: 'choice', field_type: 'select', config: { options: ['a'] } });
await workspace.define({ slug: 'choices', field_type: 'multi_select', config: { options: ['a'] } });
await workspace.define({ slug: 'blob', field_type: 'json' });
await workspace.define({ slug: 'gone', archived_at: '2026-11-20T09:00:00.000Z' });

const PATHS = ['/api/v1/incidents', '/api/v1/incidents/archived'];

async function refused(query: string, code = 'invalid_request'): Promise<string> {
  const fields = new Set<string>();
  for (const path of PATHS) {
    const { status, body } = await workspace.client.get(`${path}?${query}`);
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    fields.add(body.field);
  }
  const [field = '', other] = fields;
  expect(other).toBeUndefined();
  return field;
}

const many = (parameter: string, value: string, count: number) =>
  Array.from({ length: count }, () => `${parameter}=${value}`).join('&');

describe('a list refuses', () => {
  test.each([
    ['status=open&status=nope', 'status'],
    ['team_id=1&team_id=x', 'team_id'],
    ['created_before=0000-01-01T00:00:00Z', 'created_before'],
    ['created_before=2026-11-20T09:00:00Z&created_to=2026-11-20T09:00:00Z', 'created_before'],
    ['region=%00', 'region'],
    ['mine=true', 'mine'],
    ['sort=custom', 'sort_custom_field'],
    ['sort_custom_field=text', 'sort_custom_field'],
    ['sort=status&sort_custom_field=text', 'sort_custom_field'],
    ['sort=custom&sort_custom_field=', 'sort_custom_field'],
    [`sort=custom&sort_custom_field=${'a'.repeat(65)}`, 'sort_custom_field'],
    ['sort=custom&sort_custom_field=nope', 'sort_custom_field'],
    ['sort=custom&sort_custom_field=gone', 'sort_custom_field'],
    ['sort=custom&sort_custom_field=blob', 'sort_custom_field'],
    ['sort=custom&sort_custom_field=__proto__', 'sort_custom_field'],
    ['affected_customers_op=%3E', 'affected_customers_value'],
    ['affected_customers_value=1', 'affected_customers_op'],
    ['affected_customers_op=%3E%3D&affected_customers_value=1', 'affected_customers_op'],
    ['affected_customers_op=%3E&affected_customers_value=-1', 'affected_customers_value'],
    ['affected_customers_op=%3E&affected_customers_value=1.5', 'affected_customers_value'],
    ['mrr_op=%3C', 'mrr_value'],
    ['mrr_value=1', 'mrr_op'],
    ['mrr_op=%3C&mrr_value=-1', 'mrr_value'],
    ['mrr_op=%3C&mrr_value=1&mrr_currency=usd', 'mrr_currency'],
    ['mrr_op=%3C&mrr_value=1&mrr_currency=EUR', 'mrr_currency'],
    ['mrr_op=%3C&mrr_value=1&mrr_basis=source', 'mrr_currency'],
    ['mrr_basis=source', 'mrr_currency'],
  ])('%s', async (query, field) => {
    expect(await refused(query)).toBe(field);
  });

  test('a timestamp whose offset has + instead of %2B, and says so', async () => {
    const { status, body } = await workspace.client.get(`${PATHS[0]}?created_from=2026-11-20T09:00:00+02:00`);
    expect([status, body.field, body.message]).toEqual([
      400,
      'created_from',
      expect.stringContaining('a space, which is what + means in a query; write %2B there'),
    ]);
  });

  test('more than 32 custom filters', async () => {
    const one = encodeURIComponent(JSON.stringify({ slug: 'text', operator: 'is', value: 'x' }));
    expect(await refused(many('custom_filter', one, 33))).toBe('custom_filter');
    const other = (number: number) => ({
      slug: 'text',
      operator: ['is', 'is_not', 'contains'][number % 3],
      value: `${number}`,
    });
    const all = Array.from({ length: 32 }, (_, number) => encodeURIComponent(JSON.stringify(other(number))));
    const query = all.map((item) => `custom_filter=${item}`).join('&');
    for (const path of PATHS) {
      expect((await workspace.client.get(`${path}?include_counts=true&${query}`)).status).toBe(200);
    }
  });
});

describe('a custom filter is refused, naming its index:', () => {
  const ok = { slug: 'text', operator: 'is', value: 'x' };
  const items = (...given: unknown[]) =>
    given
      .map((item) => `custom_filter=${encodeURIComponent(typeof item === 'string' ? item : JSON.stringify(item))}`)
      .join('&');

  test.each([
    ['text that is not JSON', '{', ''],
    ['not an object', '[]', ''],
    ['null', 'null', ''],
    ['without a slug', { operator: 'is', value: 'x' }, '.slug'],
    ['without an operator', { slug: 'text', value: 'x' }, '.operator'],
    ['without a value', { slug: 'text', operator: 'is' }, '.value'],
    ['an unknown field', { ...ok, slug: 'nope' }, '.slug'],
    ['the name of a member of every object, as slug', { ...ok, slug: 'constructor' }, '.slug'],
    ['an archived field', { ...ok, slug: 'gone' }, '.slug'],
    ['an unknown operator', { ...ok, operator: 'like' }, '.operator'],
    ['the name of a member of every object, as operator', { ...ok, operator: 'toString' }, '.operator'],
    ['SQL', { ...ok, operator: "= '' or true --" }, '.operator'],
    ['a json field', { ...ok, slug: 'blob' }, '.operator'],
    ['text with gt', { ...ok, operator: 'gt' }, '.operator'],
    ['a number with contains', { slug: 'number', operator: 'contains', value: 1 }, '.operator'],
    ['a number with is', { slug: 'number', operator: 'is', value: 1 }, '.operator'],
    ['a flag with is_not', { slug: 'flag', operator: 'is_not', value: true }, '.operator'],
    ['whether there is a value, as a text', { ...ok, operator: 'has_value', value: 'true' }, '.value'],
    ['whether there is a value, in a list', { ...ok, operator: 'has_value', value: [true] }, '.value'],
    ['a json field with has_value', { slug: 'blob', operator: 'has_value', value: true }, '.operator'],
    ['a time with between', { slug: 'hour', operator: 'between', value: ['00:00', '01:00'] }, '.operator'],
    ['a choice with contains', { slug: 'choice', operator: 'contains', value: 'a' }, '.operator'],
    ['choices with is', { slug: 'choices', operator: 'is', value: 'a' }, '.operator'],
    ['a number for text', { ...ok, value: 1 }, '.value'],
    ['null for text', { ...ok, value: null }, '.value'],
    ['no alternatives', { ...ok, value: [] }, '.value'],
    ['a number among texts', { ...ok, value: ['x', 1] }, '.value.1'],
    ['several texts to contain', { ...ok, operator: 'contains', value: ['x'] }, '.value'],
    ['text for a number', { slug: 'number', operator: 'eq', value: '1' }, '.value'],
    ['several numbers', { slug: 'number', operator: 'gt', value: [1] }, '.value'],
    ['one bound', { slug: 'number', operator: 'between', value: 1 }, '.value'],
    ['three bounds', { slug: 'number', operator: 'between', value: [1, 2, 3] }, '.value'],
    ['a bound of text', { slug: 'number', operator: 'between', value: [1, 'x'] }, '.value.1'],
    ['a number above 2^53', '{"slug":"number","operator":"eq","value":9007199254740993}', '.value'],
    ['a number too large for a double', '{"slug":"number","operator":"eq","value":1e999}', '.value'],
    ['a number that would be rounded', '{"slug":"number","operator":"eq","value":0.289999999999999999}', '.value'],
    ['a name twice', '{"slug":"text","operator":"is","value":"x","operator":"is_not"}', '.operator'],
    ['text for a flag', { slug: 'flag', operator: 'is', value: 'true' }, '.value'],
    ['a day that does not exist', { slug: 'day', operator: 'is', value: '2026-02-30' }, '.value'],
    ['a moment for a day', { slug: 'day', operator: 'is', value: '2026-02-03T00:00:00Z' }, '.value'],
    ['a time past midnight', { slug: 'hour', operator: 'is', value: '24:00' }, '.value'],
    ['a moment without a zone', { slug: 'moment', operator: 'after', value: '2026-02-03T00:00:00' }, '.value'],
    ['a number for money', { slug: 'money', operator: 'gt', value: 1 }, '.value'],
    ['money without a currency', { slug: 'money', operator: 'gt', value: { amount: 1 } }, '.value.currency'],
    [
      'money of two currencies',
      {
        slug: 'money',
        operator: 'between',
        value: [
          { amount: 1, currency: 'EUR' },
          { amount: 2, currency: 'USD' },
        ],
      },
      '.value.1.currency',
    ],
    ['a number for a choice', { slug: 'choice', operator: 'is', value: 1 }, '.value'],
    ['a number among choices', { slug: 'choices', operator: 'includes_any', value: ['a', 1] }, '.value.1'],
    ['U+0000', { ...ok, value: '\0' }, '.value'],
    ['half a character', '{"slug":"text","operator":"is","value":"\\ud800"}', '.value'],
  ])('%s', async (_what, item, at) => {
    expect(await refused(items(ok, item))).toBe(`custom_filter.1${at}`);
  });

  test.each([
    ['a field type', { ...ok, field_type: 'number' }, 'custom_filter.0.field_type'],
    [
      'an extra member of money',
      { slug: 'money', operator: 'eq', value: { amount: 1, currency: 'EUR', sql: 'x' } },
      'custom_filter.0.value.sql',
    ],
  ])('%s', async (_what, item, field) => {
    expect(await refused(items(item), 'unknown_field')).toBe(field);
  });
});
