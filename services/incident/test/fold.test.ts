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

test('what is part of a text is part of it folded, also at the end of a word', () => {
  expect(fold('ΟΔΟΣΗΜΟ')).toContain(fold('ΟΔΟΣ'));
});
