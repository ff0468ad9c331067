import { describe, expect, test } from '@jest/globals';
import { isTimeZone, knownTimeZone, localTime, momentsOf, startOfDay } from '../src/time-zone.ts';

const toMoment = (time: number) => new Date(time).toISOString();

test.each([
  ['UTC', true],
  ['Etc/UTC', true],
  ['Europe/Berlin', true],
  ['Europe/Kyiv', true],
  ['Asia/Kolkata', true],
  ['US/Pacific', true],
  ['America/Port-au-Prince', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['europe/berlin', false],
  ['utc', false],
  // ICU knows these, some of them in another meaning.
  ['BST', false],
  ['PST', false],
  ['SystemV/EST5', false],
  ['+02:00', false],
  ['Mars/Olympus_Mons', false],
  ['../etc/passwd', false],
  ['UTC\n', false],
  ['', false],
])('%j as a time zone: %j', (name, isZone) => expect(isTimeZone(name)).toBe(isZone));

test('a stored zone that does not exist any more is UTC', () => {
  expect(['Asia/Tokyo', 'Europe/Atlantis', '\0'].map(knownTimeZone)).toEqual(['Asia/Tokyo', 'UTC', 'UTC']);
});

describe('the moments of a local time', () => {
  test.each([
    ['2026-01-15T12:00:00Z', 'UTC', ['2026-01-15T12:00:00.000Z']],
    ['2026-01-15T12:00:00Z', 'Europe/Berlin', ['2026-01-15T11:00:00.000Z']],
    ['2026-07-15T12:00:00Z', 'Europe/Berlin', ['2026-07-15T10:00:00.000Z']],
    ['2026-07-15T12:00:00Z', '-03:30', ['2026-07-15T15:30:00.000Z']],
    // Summer time begins and ends.
    ['2026-03-29T02:30:00Z', 'Europe/Berlin', []],
    ['2026-10-25T02:30:00Z', 'Europe/Berlin', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
    // Before zones had whole minutes.
    ['0001-01-01T00:53:28Z', 'Europe/Berlin', ['0001-01-01T00:00:00.000Z']],
  ])('%s in %s', (local, zone, moments) => {
    expect(momentsOf(Date.parse(local), zone).map(toMoment)).toEqual(moments);
    for (const moment of moments) expect(localTime(Date.parse(moment), zone).getTime()).toBe(Date.parse(local));
  });
});

test.each([
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
  // Midnight is skipped, the whole day is, and midnight comes twice.
  ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
  ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
])('the day %s in %s begins at %s', (day, zone, start) => {
  expect(toMoment(startOfDay(Date.parse(`${day}T00:00:00Z`), zone))).toBe(start);
});
