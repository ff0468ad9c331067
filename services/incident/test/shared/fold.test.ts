import { fold } from '@tocsin/contracts';
import { expect, test } from '@jest/globals';

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
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const text = String.fromCodePoint(point);
    const folded = fold(text);
    const others = [folded, text.toUpperCase(), text.toLowerCase()].concat(
      ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => text.normalize(form)),
    );
    if (others.some((other) => fold(other) !== folded)) differing.push(point.toString(16));
  }
  expect(differing).toEqual([]);
});

test('what is part of a text is part of it folded, also at the end of a word', () => {
  expect(fold('ΟΔΟΣΗΜΟ')).toContain(fold('ΟΔΟΣ'));
});
