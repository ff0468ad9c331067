import { normaliseList } from '@tocsin/http';
import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { sortName } from '../src/domain/sort-name.ts';

describe('lists of names', () => {
  test.each([
    [[], []],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      [' a ', '\tb\n'],
      ['a', 'b'],
    ],
    [['', '  ', 'a'], ['a']],
    [
      ['Prod', 'prod', 'PROD ', 'eu'],
      ['Prod', 'eu'],
    ],
    [['ÄRGER', 'ärger'], ['ÄRGER']],
    [
      ['__proto__', 'constructor'],
      ['__proto__', 'constructor'],
    ],
  ])('%j becomes %j', (given, kept) => expect(normaliseList(given)).toEqual(kept));
});

describe('what names are sorted by', () => {
  test.each([
    ['Checkout', 'checkout'],
    ['ＦＵＬＬ', 'full'],
    ['ﬁnance', 'finance'],
    ['Ärger', 'ärger'],
    ['A\u0308rger', 'ärger'],
  ])('%j by %j', (name, key) => expect(sortName(name)).toBe(key));

  test('it fits into an index entry and a cursor, and is text that Postgres can hold', () => {
    const name = fc.string({ unit: 'binary', maxLength: 128 });
    const expanding = fc.constantFrom('\uFDFA'.repeat(128), `a${'\uFDFA'.repeat(127)}`, '\u{1D49C}'.repeat(128));
    fc.assert(
      fc.property(fc.oneof(name, expanding), (text) => {
        const key = sortName(text);
        expect(Buffer.byteLength(JSON.stringify(key))).toBeLessThan(2_500);
        expect(key.isWellFormed()).toBe(true);
      }),
    );
  });
});
