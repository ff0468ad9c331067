import { normaliseList } from '@tocsin/http';
import { describe, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { sortKeyOf } from '../src/domain/sort-key.ts';

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

describe('the sort key of a name', () => {
  test.each([
    ['Checkout', 'checkout'],
    ['ＦＵＬＬ', 'full'],
    ['ﬁnance', 'finance'],
    ['Ärger', 'ärger'],
    ['A\u0308rger', 'ärger'],
  ])('%j has %j', (name, key) => expect(sortKeyOf(name)).toBe(key));

  test('fits into an index entry and a cursor, and is text that Postgres can store', () => {
    const name = fc.string({ unit: 'binary', maxLength: 128 });
    const expanding = fc.constantFrom('\uFDFA'.repeat(128), `a${'\uFDFA'.repeat(127)}`, '\u{1D49C}'.repeat(128));
    fc.assert(
      fc.property(fc.oneof(name, expanding), (text) => {
        const key = sortKeyOf(text);
        expect(Buffer.byteLength(JSON.stringify(key))).toBeLessThan(2_500);
        expect(key.isWellFormed()).toBe(true);
      }),
    );
  });
});
