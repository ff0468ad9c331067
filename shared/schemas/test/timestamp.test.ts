import { describe, expect, test } from '@jest/globals';
import { ceilTimestamp, parseTimestamp, timestampViolation } from '../src/index.ts';

describe('timestamps', () => {
  test.each([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20t09:30:00z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00.1239999Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T00:15:00+05:45', '2026-11-19T18:30:00.000Z'],
    ['2026-11-20T09:30:00-00:00', '2026-11-20T09:30:00.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, utc) => expect(parseTimestamp(text)).toBe(utc));

  test.each([
    '',
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-11-20 09:30:00Z',
    '2026-11-20T09:30Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T09:60:00Z',
    '2026-11-20T09:30:60Z',
    '2026-11-20T09:30:00+24:00',
    '2026-11-20T09:30:00+0100',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '12026-11-20T09:30:00Z',
    ' 2026-11-20T09:30:00Z',
    '2026-11-20T09:30:00Z\n',
    '٢٠٢٦-11-20T09:30:00Z',
  ])('%j is not a timestamp', (text) => expect(parseTimestamp(text)).toBeUndefined());
});

describe('a bound finer than a millisecond', () => {
  test.each([
    ['2026-11-20T09:30:00.123Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00.123000Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00.1230001Z', '2026-11-20T09:30:00.124Z'],
    ['2026-11-20T09:30:00.9999+01:00', '2026-11-20T08:30:01.000Z'],
    ['2026-11-20T09:30:00.5Z', '2026-11-20T09:30:00.500Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is rounded up to %s', (text, utc) => expect(ceilTimestamp(text)).toBe(utc));
});

describe('what is wrong with a text', () => {
  const RULE = 'Must be an RFC 3339 timestamp with a time zone';
  test.each([
    [
      '2026-11-20T09:30:00 02:00',
      `${RULE}: the offset begins with a space, which is what + means in a query; write %2B there`,
    ],
    ['2016-12-31T23:59:60Z', `${RULE}: leap seconds, such as 23:59:60, are not accepted`],
    ['2026-02-30T00:00:00Z', `${RULE}: the day does not exist`],
    ['0000-12-31T00:00:00Z', `${RULE}: the years are 0001 to 9999 in UTC`],
    ['9999-12-31T23:59:59-00:01', `${RULE}: the years are 0001 to 9999 in UTC`],
    ['2026-11-20T09:30:00', RULE],
    ['yesterday', RULE],
  ])('%s', (text, message) => expect(timestampViolation(text)).toBe(message));

  test('is nothing for a timestamp', () => expect(timestampViolation('2026-11-20T09:30:00+02:00')).toBeUndefined());
});
