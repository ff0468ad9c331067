import { expect, test } from '@jest/globals';
import { instantFromPostgres } from '../src/column-types.ts';

test.each([
  ['2026-11-20 09:30:00+00', '2026-11-20T09:30:00.000Z'],
  ['2026-11-20 09:30:00.5+00', '2026-11-20T09:30:00.500Z'],
  ['2026-11-20 09:30:00.123+00', '2026-11-20T09:30:00.123Z'],
  ['2026-11-20 09:30:00.123456+00', '2026-11-20T09:30:00.123Z'],
  ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
])('%s from Postgres becomes %s', (text, instant) => expect(instantFromPostgres(text)).toBe(instant));
