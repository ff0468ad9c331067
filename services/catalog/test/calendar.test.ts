import { describe, expect, test } from '@jest/globals';
import { readCalendar } from '../src/domain/calendar.ts';
import { keptShifts, nowAndNext, userOf } from '../src/domain/on-call.ts';

const NOW = '2026-10-23T12:00:00.000Z';
const calendar = (...events: string[][]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events.flat(), 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]) => ['BEGIN:VEVENT', `UID:${lines.join()}`, ...lines, 'END:VEVENT'];
const shiftsIn = (text: string, count = 5) =>
  readCalendar({ text, now: Date.parse(NOW) })
    ?.slice(0, count)
    .map(({ name, from, until }) => `${name} ${from.slice(5, 16)} ${until.slice(5, 16)}`);

describe('a calendar', () => {
  test('has shifts in its time zones, across the end of summer time', () => {
    const weekly = event(
      'SUMMARY:Ana Lopez',
      'DTSTART;TZID=Europe/Berlin:20261005T090000',
      'DTEND;TZID=Europe/Berlin:20261009T170000',
      'RRULE:FREQ=WEEKLY',
    );
    expect(shiftsIn(calendar(weekly), 2)).toEqual([
      'Ana Lopez 10-19T07:00 10-23T15:00',
      'Ana Lopez 10-26T08:00 10-30T16:00',
    ]);
  });

  test('may define a zone of its own, with a name that nobody else knows', () => {
    const zone = [
      ...['BEGIN:VTIMEZONE', 'TZID:Our office', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
      ...['TZOFFSETFROM:+0300', 'TZOFFSETTO:+0300', 'TZNAME:X', 'END:STANDARD', 'END:VTIMEZONE'],
    ];
    const shift = event(
      'SUMMARY:Ben',
      'DTSTART;TZID=Our office:20261024T090000',
      'DTEND;TZID=Our office:20261024T100000',
    );
    expect(shiftsIn(calendar(zone, shift))).toEqual(['Ben 10-24T06:00 10-24T07:00']);
  });

  test('has days from midnight to midnight, and times without a zone, in its own', () => {
    const zone = ['X-WR-TIMEZONE:Europe/Berlin'];
    const days = event('SUMMARY:Ana', 'DTSTART;VALUE=DATE:20261024', 'DTEND;VALUE=DATE:20261026');
    const floating = event('SUMMARY:Ben', 'DTSTART:20261026T090000', 'DTEND:20261026T100000');
    expect(shiftsIn(calendar(zone, days, floating))).toEqual([
      'Ana 10-23T22:00 10-25T23:00',
      'Ben 10-26T08:00 10-26T09:00',
    ]);
    expect(shiftsIn(calendar(days, floating))).toEqual(['Ana 10-24T00:00 10-26T00:00', 'Ben 10-26T09:00 10-26T10:00']);
  });

  test('leaves out and replaces single repetitions', () => {
    const daily = ['UID:daily', 'SUMMARY:Ana'];
    const series = [
      ...['BEGIN:VEVENT', ...daily, 'DTSTART:20261020T090000Z', 'DTEND:20261020T100000Z', 'RRULE:FREQ=DAILY;COUNT=8'],
      ...['EXDATE:20261024T090000Z', 'END:VEVENT'],
    ];
    const replaced = [
      ...['BEGIN:VEVENT', 'UID:daily', 'SUMMARY:Ben', 'RECURRENCE-ID:20261025T090000Z'],
      ...['DTSTART:20261025T110000Z', 'DTEND:20261025T120000Z', 'END:VEVENT'],
    ];
    const cancelled = [
      ...['BEGIN:VEVENT', 'UID:daily', 'SUMMARY:Ana', 'RECURRENCE-ID:20261026T090000Z', 'STATUS:CANCELLED'],
      ...['DTSTART:20261026T090000Z', 'DTEND:20261026T100000Z', 'END:VEVENT'],
    ];
    expect(shiftsIn(calendar(series, replaced, cancelled))).toEqual([
      'Ben 10-25T11:00 10-25T12:00',
      'Ana 10-27T09:00 10-27T10:00',
    ]);
  });

  test('names people by attendees, by addresses in its texts, or as text', () => {
    const times = ['DTSTART:20261023T000000Z', 'DTEND:20261024T000000Z'];
    const read = (...lines: string[]) =>
      readCalendar({ text: calendar(event(...times, ...lines)), now: Date.parse(NOW) })?.map(({ name, emails }) => [
        name,
        ...emails,
      ]);
    expect(
      read(
        'SUMMARY:On call',
        'ORGANIZER:mailto:boss@acme.example',
        'ATTENDEE;CN="Ana Lopez":mailto:ana@acme.example',
        'ATTENDEE:MAILTO:ben@acme.example',
        'ATTENDEE;PARTSTAT=DECLINED:mailto:eva@acme.example',
        'ATTENDEE;CUTYPE=ROOM:mailto:room@acme.example',
      ),
    ).toEqual([
      ['Ana Lopez', 'ana@acme.example'],
      ['On call', 'ben@acme.example'],
    ]);
    expect(read('SUMMARY:Primary: ana@acme.example')).toEqual([['Primary: ana@acme.example', 'ana@acme.example']]);
    expect(read('SUMMARY:Primary', String.raw`DESCRIPTION:Ana\n<ana@acme.example>`)).toEqual([
      ['Primary', 'ana@acme.example'],
    ]);
    expect(read('SUMMARY:Ana\\, until lunch')).toEqual([['Ana, until lunch']]);
  });

  test('is nothing else', () => {
    expect(shiftsIn('<html></html>')).toBeUndefined();
    expect(shiftsIn(calendar())).toEqual([]);
  });
});

const shift = (name: string, from: string, until: string, ...emails: string[]) => ({
  ...{ name, emails, from: `2026-10-${from}:00:00.000Z`, until: `2026-10-${until}:00:00.000Z` },
});

test('adjacent shifts of a person are one, and several people can be on call at once', () => {
  const kept = keptShifts(
    [
      shift('Ben', '23T08', '23T20'),
      shift('Ana', '23T00', '23T13'),
      shift('Ana', '23T13', '24T00'),
      shift('Eva', '22T00', '23T00'),
      shift('Eva', '24T00', '25T00'),
      shift('Ida', '24T00', '24T06'),
    ],
    NOW,
  );
  const names = (shifts: readonly { name: string; until: string }[]) =>
    shifts.map(({ name, until }) => `${name} ${until.slice(8, 13)}`);
  const { now, next } = nowAndNext(kept, NOW);
  expect([names(now), names(next)]).toEqual([
    ['Ana 24T00', 'Ben 23T20'],
    ['Eva 25T00', 'Ida 24T06'],
  ]);
});

test.each([
  ['On call: ANA LÓPEZ (primary)', 1],
  ['Ana López-García', 2],
  ['Ana', undefined],
  ['Ana López and Ben', undefined],
  ['Benjamin', undefined],
  ['Ben', 3],
  ['Eva', undefined],
])('%j is the user %j', (name, id) => {
  const user = (of: number, called: string) => ({ id: of, name: called, email: `${of}@acme.example` });
  const users = [user(1, 'Ana López'), user(2, 'Ana López García'), user(3, 'Ben'), user(4, 'Eva'), user(5, 'Eva')];
  expect(userOf({ ...shift(name, '23T00', '24T00') }, users)?.id).toBe(id);
  expect(userOf({ ...shift(name, '23T00', '24T00', '4@ACME.example') }, users)?.id).toBe(4);
});
