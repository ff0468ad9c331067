import { expect, test } from '@jest/globals';
import { nearName } from '../../src/errors/near-name.ts';

const FIELD = ['name', 'slug', 'field_type', 'description', 'default_value', 'sort_order', 'show_on_creation'];

test.each([
  ['type', 'field_type'],
  ['fieldType', 'field_type'],
  ['field-type', 'field_type'],
  ['fieldtype', 'field_type'],
  ['Name', 'name'],
  ['nam', 'name'],
  ['descripton', 'description'],
  ['default', 'default_value'],
  ['sort', 'sort_order'],
  ['team_name', 'name'],
])('%s is %s', (given, meant) => {
  expect(nearName(given, FIELD)).toBe(meant);
});

test.each(['', 'x', 'colour', 'title', 'n'.repeat(65), '\u0000', '__proto__'])('%j is none of them', (given) => {
  expect(nearName(given, FIELD)).toBeUndefined();
});

test('two that are equally near are not told apart', () => {
  expect(nearName('order', ['sort_order', 'list_order'])).toBeUndefined();
});
