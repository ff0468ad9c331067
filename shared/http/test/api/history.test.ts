import { describe, expect, test } from '@jest/globals';
import { visibleFrom } from '../../src/index.ts';

describe('a history limit', () => {
  const NOW = '2026-11-20T12:00:00.000Z';
  test.each([
    [null, null],
    [1, '2026-11-19T12:00:00.000Z'],
    [0.5, '2026-11-20T00:00:00.000Z'],
    [1e12, '0001-01-01T00:00:00.000Z'],
  ])('of %p days shows what was created from %p', (days, from) => {
    expect(visibleFrom(days, NOW)).toBe(from);
  });
});
