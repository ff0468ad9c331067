import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { digestOf, generateToken, isToken, shownPart } from '../src/domain/token.ts';

describe('tokens', () => {
  test('are a prefix, 43 characters and a checksum of 6', () => {
    expect(generateToken()).toMatch(/^tcs_[0-9A-Za-z]{49}$/);
    expect(new Set(Array.from({ length: 50 }, generateToken)).size).toBe(50);
  });

  test('every generated token is recognised', () => {
    for (let count = 0; count < 200; count += 1) expect(isToken(generateToken())).toBe(true);
  });

  test('the checksum of a known token stays what it was', () => {
    expect(isToken(`tcs_${'0'.repeat(43)}0iEY11`)).toBe(true);
  });

  test('one wrong character anywhere is noticed without a look-up', () => {
    const token = generateToken();
    for (let index = 4; index < token.length; index += 1) {
      const wrong = token.charAt(index) === 'a' ? 'b' : 'a';
      expect(isToken(token.slice(0, index) + wrong + token.slice(index + 1))).toBe(false);
    }
  });

  test.each([
    '',
    'tcs_',
    'secret',
    `${generateToken()}x`,
    ` ${generateToken()}`,
    generateToken().replace('tcs_', 'TCS_'),
  ])('%j is none', (text) => expect(isToken(text)).toBe(false));

  test('are looked up by their SHA-256 and shown by their first 8 characters', () => {
    const token = generateToken();
    expect(digestOf(token)).toBe(createHash('sha256').update(token).digest('hex'));
    expect(shownPart(token)).toBe(token.slice(0, 8));
  });
});
