import { expect, test } from '@jest/globals';
import { EMAIL, isBlank, isEmailAddress, shownText } from '@tocsin/schemas';
import { z } from 'zod';

const CODE_POINTS = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));

/** White space of Python's `\s`, which has more of it than JavaScript's. */
const PYTHON_SPACE = /[\x1c-\x1f\x85]/;

test('the pattern of a text that shows something matches each character that is seen, in JavaScript and in Python', () => {
  const { pattern = '' } = z.toJSONSchema(shownText(z.string()));
  const expression = new RegExp(pattern);
  const wrong = CODE_POINTS.filter((text) => !isBlank(text) && (!expression.test(text) || PYTHON_SPACE.test(text)));
  expect(wrong).toEqual([]);
  for (const text of [' ', '\t\n', '\u00A0', '']) expect(expression.test(text)).toBe(false);
  for (const text of [' a b\nc ', '\u200Ba', 'a']) expect(expression.test(text)).toBe(true);
});

test('the pattern of an address matches each address with one odd character', () => {
  const isAddress = (text: string) => isEmailAddress(`${text}@acme.example`);
  const wrong = CODE_POINTS.filter(
    (text) => isAddress(text) && (!EMAIL.test(`${text}@acme.example`) || PYTHON_SPACE.test(text)),
  );
  expect(wrong).toEqual([]);
});
