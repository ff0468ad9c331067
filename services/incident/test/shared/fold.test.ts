import { fold } from '@tocsin/schemas';
import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';

/** All that Unicode has assigned; the other nine tenths of its code points, and those for private use, have no case and no form. */
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point))
  .filter((text) => !/[\p{Cn}\p{Co}]/u.test(text));

test.each([
  ['ÄRGER', 'ärger'],
  ['STRASSE', 'straße'],
  ['ΟΔΟΣ', 'οδος'],
  ['ДАННЫЕ', 'данные'],
  ['ſet', 'SET'],
  ['µ', 'Μ'],
])('%s and %s are the same but for case', (one, other) => {
  expect(fold(one)).toBe(fold(other));
});

test.each([
  ['a', 'á'],
  ['100%', '100_'],
])('%s and %s are not', (one, other) => {
  expect(fold(one)).not.toBe(fold(other));
});

test('a character is the same in every form and case, and folded texts stay as they are', () => {
  const differing: string[] = [];
  for (const text of CHARACTERS) {
    const folded = fold(text);
    const others = [folded, text.toUpperCase(), text.toLowerCase()].concat(
      ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => text.normalize(form)),
    );
    if (others.some((other) => fold(other) !== folded)) differing.push(text);
  }
  expect(differing).toEqual([]);
});

test('what is part of a text is part of it folded, also at the end of a word', () => {
  expect(fold('ΟΔΟΣΗΜΟ')).toContain(fold('ΟΔΟΣ'));
});

/** Characters that have marks, that are marks, or that change with case or form. */
const CHANGING = CHARACTERS.filter(
  (text) => /\p{M}/u.test(text) || text.toLowerCase() !== text.toUpperCase() || text.normalize('NFKD') !== text,
);
const character = fc.oneof(fc.constantFrom(...CHANGING), fc.constantFrom('\u0345', '\u0301', 'Ι', 'ς', 'İ', 'a'));
const characters = fc.array(character, { maxLength: 6 }).map((list) => list.join(''));

test('texts of any characters are the same in every canonical form, and folded texts stay as they are', () => {
  fc.assert(
    fc.property(characters, (text) => {
      const folded = fold(text);
      expect([text.normalize('NFC'), text.normalize('NFD'), folded].map(fold)).toEqual([folded, folded, folded]);
    }),
    { numRuns: 5_000 },
  );
});

test('the order of marks makes no difference', () => {
  expect(fold('α\u0345\u0301')).toBe(fold('α\u0301\u0345'));
});
