import { describe, expect, test } from '@jest/globals';
import { mostSimilar, termsOf } from '../../src/relations/domain/similarity.ts';
import { MAX_LATEST } from '../../src/relations/store/similar-store.ts';

describe('terms', () => {
  test('are beginnings of words, pairs of characters, and emoji, a limited number', () => {
    expect([...termsOf('payments of payment-api v2 🔥')]).toEqual(['paymen', 'of', 'api', 'v2', '🔥']);
    expect([...termsOf('東京駅')]).toEqual(['東京', '京駅']);
    expect([...termsOf('東')]).toEqual(['東']);
    expect(termsOf(Array.from({ length: 255 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('')).size).toBe(
      32,
    );
  });

  test('in common are compared within a bounded number of titles', () => {
    const candidates = Array.from({ length: MAX_LATEST }, (_, id) => ({
      id,
      titleFolded: `database ${id % 10} is down`,
      isOfService: null,
    }));
    const similar = mostSimilar('database 7 is down', candidates);
    expect(similar.map(({ id }) => id % 10)).toEqual([7, 7, 7, 7, 7]);
  });
});
