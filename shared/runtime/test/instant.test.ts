import { expect, test } from '@jest/globals';
import { addMilliseconds } from '../src/index.ts';

test('milliseconds are added to a moment', () => {
  expect(addMilliseconds('2026-11-20T23:59:59.999Z', 1)).toBe('2026-11-21T00:00:00.000Z');
  expect(addMilliseconds('2026-11-20T00:00:00.000Z', -1)).toBe('2026-11-19T23:59:59.999Z');
});
