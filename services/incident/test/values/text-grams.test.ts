import { describe, expect, test } from '@jest/globals';
import { fold, type CustomFieldDefinition } from '@tocsin/schemas';
import fc from '@tocsin/testing/fuzz';
import { manyGrams, searchedGrams, textGrams, toRecords } from '../../src/values/store/value-row.ts';

const FIELD = 12;

/** Texts of a few different characters, so that parts occur repeatedly, and texts of any characters. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'B', 'ß', 'Σ', 'İ', '%', '_', '日', '😀', '😁', ' ') }),
  fc.string({ unit: 'binary' }),
);

const hasAll = (text: string, searched: string) => {
  const grams = new Set(textGrams(FIELD, text));
  return searchedGrams(FIELD, searched).every((gram) => grams.has(gram));
};

describe('the grams of a text', () => {
  test('include those of every text that it contains', () => {
    fc.assert(
      fc.property(text, fc.nat(40), fc.nat(40), (whole, from, length) => {
        const folded = fold(whole);
        const part = [...folded].slice(from, from + length).join('');
        expect(folded).toContain(part);
        expect(hasAll(folded, part)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('are limited in number, however long the text is, also those of a search', () => {
    const characters = Array.from({ length: 300_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)),
    );
    const long = characters.join('');
    expect(searchedGrams(FIELD, long).length).toBeLessThan(100);
    expect(textGrams(FIELD, characters.slice(0, 600).join('')).length).toBeGreaterThan(1_000);
    for (const text of [characters.slice(0, 1_000).join(''), long, 'a'.repeat(300_000)]) {
      expect(textGrams(FIELD, text)).toEqual([manyGrams(FIELD)]);
    }
    expect(textGrams(FIELD + 1, long)).not.toEqual(textGrams(FIELD, long));
  });

  test('of all texts that are written together are limited, from the longest text on', () => {
    const textOf = (characters: number, first: number) =>
      Array.from({ length: characters }, (_, index) => String.fromCodePoint(first + index)).join('');
    const values = Array.from({ length: 40 }, (_, index) => ({
      field: { id: index + 1, slug: `field_${index}`, field_type: 'string' } as CustomFieldDefinition,
      value: textOf(index === 3 ? 20 : 100 + 10 * index, 0x4e00),
    }));
    const records = toRecords(values, { at: '2026-11-20T12:00:00.000Z', by: '42' });
    const counts = records.map(({ text_grams: grams = [] }) => grams.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(16_384);
    expect(counts.slice(0, 10).every((count) => count > 1)).toBe(true);
    expect(records.at(-1)?.text_grams).toEqual([manyGrams(40)]);
  });
});
