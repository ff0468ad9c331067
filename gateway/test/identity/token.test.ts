import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { digestOf, generateToken, isToken, shownPart } from '../../src/identity/domain/token.ts';

describe('tokens', () => {
  test('consist of a prefix, 43 characters and a checksum of 6', () => {
    expect(generateToken()).toMatch(/^tcs_[0-9A-Za-z]{49}$/);
    expect(new Set(Array.from({ length: 50 }, () => generateToken())).size).toBe(50);
  });

  test('every generated token is recognised', () => {
    for (let count = 0; count < 200; count += 1) expect(isToken(generateToken())).toBe(true);
  });

  test('the checksum of a known token does not change', () => {
    expect(isToken(`tcs_${'0'.repeat(43)}0iEY11`)).toBe(true);
  });

  test('the checksum detects a wrong character at any position', () => {
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
  ])('%j is not a token', (text) => expect(isToken(text)).toBe(false));

  test('of one kind is none of another', () => {
    const kinds = ['key', 'session', 'login_link'] as const;
    for (const kind of kinds) {
      const token = generateToken(kind);
      expect(kinds.filter((each) => isToken(token, each))).toEqual([kind]);
    }
  });

  test('are stored as their SHA-256 and displayed as their first 8 characters', () => {
    const token = generateToken();
    expect(digestOf(token)).toBe(createHash('sha256').update(token).digest('hex'));
    expect(shownPart(token)).toBe(token.slice(0, 8));
  });
});
