import { describe, expect, test } from '@jest/globals';
import {
  archive,
  changedProperties,
  checkNotArchived,
  chooseSlug,
  column,
  type ColumnsOf,
  rowMapping,
  definedProperties,
  restore,
  revise,
  type SlugRule,
} from '../src/index.ts';

const [then, now] = ['2026-11-20T09:00:00.000Z', '2026-11-20T10:00:00.000Z'];
const resource = { name: 'a', revision: 3, createdAt: then, updatedAt: then, archivedAt: null };

describe('a resource', () => {
  test('has one more revision after a change', () => {
    expect(revise(resource, { name: 'b' }, now)).toEqual({ ...resource, name: 'b', revision: 4, updatedAt: now });
  });

  test('can be archived once and then be restored once', () => {
    const archived = archive(resource, now);
    expect(archived).toEqual({ ...resource, revision: 4, updatedAt: now, archivedAt: now });
    expect(() => checkNotArchived(resource)).not.toThrow();
    const refusal = expect.objectContaining({ code: 'invalid_resource_state' });
    expect(() => checkNotArchived(archived)).toThrow(refusal);
    expect(() => archive(archived, now)).toThrow(refusal);
    expect(restore(archived, now)).toEqual({ ...resource, revision: 5, updatedAt: now });
    expect(() => restore(resource, now)).toThrow(refusal);
  });
});

describe('requested properties', () => {
  test('that are undefined are not requested; null is a value', () => {
    expect(definedProperties<{ a: number | null; b: number }>({ a: null, b: undefined })).toStrictEqual({ a: null });
  });

  test('are changes only if their JSON differs', () => {
    const current = { text: 'x', list: ['a', 'b'], object: { a: 1, b: 2 }, number: 0 };
    expect(changedProperties(current, { text: 'x', object: { b: 2, a: 1 }, number: -0 })).toBeUndefined();
    expect(changedProperties(current, { text: 'x', list: ['b', 'a'] })).toStrictEqual({ list: ['b', 'a'] });
    expect(changedProperties(current, {})).toBeUndefined();
  });
});

describe('the slug of a new resource', () => {
  const rule: SlugRule = { pattern: /^[a-zé]+$/, firstCharacter: /[a-zé]/, separators: /[^a-zé]+/g };

  test('is the given one, or generated from the name', () => {
    expect(chooseSlug({ name: 'A b', slug: 'given' }, rule)).toEqual({ slug: 'given', generated: false });
    expect(chooseSlug({ name: 'A b' }, rule)).toEqual({ slug: 'a_b', generated: true });
    expect(() => chooseSlug({ name: '42' }, rule)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'slug' }),
    );
  });

  test('is normalized if the rule asks for it', () => {
    const slug = 'cafe\u0301';
    expect(chooseSlug({ name: 'x', slug }, rule).slug).toBe(slug);
    expect(chooseSlug({ name: 'x', slug }, { ...rule, normalization: 'NFC' }).slug).toBe('caf\u00e9');
  });
});

describe('the columns of a record', () => {
  interface Entry {
    id: number;
    createdAt: string;
    value: unknown;
    tags: string[];
  }
  const table = {
    id: column('id', 'bigint'),
    createdAt: column('created_at', 'timestamptz'),
    value: column('value', 'jsonb'),
    tags: column('tags', 'text[]'),
  } as const satisfies ColumnsOf<Entry>;
  const mapping = rowMapping<Entry, typeof table>(table);
  const record = { id: 1, createdAt: now, value: ['x'], tags: ['y'] };

  test('are written with JSON as text, and without undefined properties', () => {
    expect(mapping.names).toEqual(['id', 'created_at', 'value', 'tags']);
    expect(mapping.toRow(record)).toEqual({ id: 1, created_at: now, value: '["x"]', tags: ['y'] });
    expect(mapping.toRow({ value: null })).toStrictEqual({ value: null });
  });

  test('are read into the properties, other columns left out', () => {
    const row = { id: 1, created_at: now, value: ['x'], tags: ['y'], version: 7 };
    expect(mapping.toEntity(row)).toStrictEqual(record);
  });
});
