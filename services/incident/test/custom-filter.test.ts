import { describe, expect, test } from '@jest/globals';
import { customPredicates } from '../src/list/domain/custom-filter.ts';
import { fieldsOf } from '../src/replicas/domain/fields.ts';
import { DEFINITIONS } from './list/world.ts';

const fields = fieldsOf(DEFINITIONS);
const read = (...items: object[]) =>
  customPredicates(
    items.map((item) => JSON.stringify(item)),
    fields,
  );

describe('custom filters', () => {
  test('fold text, complete times with seconds, and convert datetimes to UTC', () => {
    const operands = (item: object) => read(item)[0]?.operands;
    expect(operands({ slug: 'customer', operator: 'contains', value: 'STRAßE' })).toEqual(['strasse']);
    expect(operands({ slug: 'env', operator: 'is', value: 'Dev' })).toEqual(['dev']);
    expect(operands({ slug: 'places', operator: 'excludes', value: 'Dev' })).toEqual(['Dev']);
    expect(operands({ slug: 'hour', operator: 'before', value: '09:30' })).toEqual(['09:30:00']);
    expect(operands({ slug: 'moment', operator: 'after', value: '2026-11-20T10:00:00.0009+01:00' })).toEqual([
      '2026-11-20T09:00:00.000Z',
    ]);
  });

  test('are the same in every spelling', () => {
    const low = { slug: 'score', operator: 'gt', value: 1 };
    const name = { slug: 'customer', operator: 'is', value: ['b', 'A', 'a'] };
    expect(read(name, low)).toEqual(read(low, low, { value: ['a', 'B'], operator: 'is', slug: 'customer' }));
    expect(read({ ...name, value: 'x' })).toEqual(read({ ...name, value: ['X'] }));
  });

  test('keep the order of the bounds of a range', () => {
    expect(read({ slug: 'score', operator: 'between', value: [9, 1] })[0]?.operands).toEqual([9, 1]);
  });

  test('may use values that the definition does not allow', () => {
    expect(read({ slug: 'env', operator: 'is', value: 'gone' })).toHaveLength(1);
    expect(read({ slug: 'cost', operator: 'eq', value: { amount: -1, currency: 'CHF' } })).toHaveLength(1);
  });
});
