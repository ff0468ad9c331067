import { describe, expect, test } from '@jest/globals';
import { parseSourceDocument } from '../../src/source-imports/domain/document.ts';

interface Received {
  type?: string;
  path?: string;
  timeZone?: string;
}

const parse = (content: string | Uint8Array, { type = 'text/markdown', path = '/', timeZone = 'UTC' }: Received = {}) =>
  parseSourceDocument({ contentType: type, body: Buffer.from(content), path, timeZone });

/** The events of a document: their times, without seconds that are 0, and bodies. */
function eventsOf(document: ReturnType<typeof parse>): string[] {
  if (document.status !== 'imported') throw new Error(document.reason);
  return document.events.map(({ startedAt, body }) => `${startedAt.replace(/(:00)?\.000Z$/, 'Z')} ${body}`);
}
const read = (content: string, received: Received = {}) => eventsOf(parse(content, received));
const skippedOf = (content: string, received: Received = {}) =>
  parse(content, received).skipped?.map(({ number, reason }) => `${number}: ${reason}`);

const UTF_16 = Buffer.from('\ufeffTime;Event\r\n2024-03-05 14:32;Störung\r\n', 'utf16le');
const THREE = ['2024-03-05T14:32Z Alarms', '2024-03-05T14:40Z Rollback begins', '2024-03-05T15:05Z All is well'];

/** The shapes in which people publish timelines. */
describe('a timeline is read from', () => {
  test.each<[string, string, Received]>([
    [
      'JSON',
      JSON.stringify({
        events: [
          { at: '2024-03-05T14:32:00Z', body: 'Alarms' },
          { at: '2024-03-05T14:40:00Z', body: 'Rollback begins' },
          { at: '2024-03-05T15:05:00Z', body: 'All is well' },
        ],
      }),
      { type: 'application/json' },
    ],
    [
      'CSV',
      'at,body\n2024-03-05T14:32:00Z,Alarms\n2024-03-05T14:40:00Z,Rollback begins\n2024-03-05T15:05:00Z,All is well\n',
      { type: 'text/csv' },
    ],
    [
      'a list with timestamps',
      '# Outage\n\n- 2024-03-05T14:32:00Z Alarms\n- 2024-03-05T14:40:00Z Rollback begins\n- **2024-03-05T15:05:00Z** – All is well\n',
      {},
    ],
    [
      'times below a date',
      '# Outage\n\nCheckout was slow.\n\n## Timeline\n\n### Tuesday, March 5th 2024\n\n- 14:32 Alarms\n- 14:40: Rollback begins\n- **15:05** – All is well\n\n## Lessons\n\n- Test more.\n',
      {},
    ],
    [
      'minutes and UTC',
      '## Timeline\n\n* 2024-03-05 14:32 UTC - Alarms\n* 2024-03-05 14:40 UTC - Rollback begins\n* 2024-03-05 15:05 UTC - All is well\n',
      { timeZone: 'Asia/Tokyo' },
    ],
    [
      'a table',
      '## Timeline (5 March 2024)\n\n| Time (CET) | What happened |\n| :--- | --- |\n| 15:32 | Alarms |\n| 15:40 | Rollback begins |\n| `16:05` | All is well |\n\nThe end.\n',
      {},
    ],
    [
      'a table in HTML',
      '<h2>Timeline</h2>\n\n<table>\n<thead><tr><th>When</th><th>What</th></tr></thead>\n<tr><td>2024-03-05 14:32 UTC</td><td>Alarms</td></tr>\n<tr>\n<td>2024-03-05 14:40 UTC</td>\n<td><b>Rollback</b> begins</td>\n</tr>\n<tr><td>2024-03-05 15:05 UTC<td>All is&nbsp;well</tr>\n</table>\n',
      {},
    ],
    [
      'plain text of a raw address',
      '2024-03-05 (*all times UTC*)\n\n14:32 Alarms\n14:40 Rollback begins\n\n**15:05** All is well\n',
      { type: 'text/plain; charset=utf-8', path: '/acme/postmortems/main/2024.md' },
    ],
    [
      'application/csv of a raw address',
      'Timestamp,Event\n2024-03-05 14:32Z,Alarms\n2024-03-05 14:40Z,Rollback begins\n2024-03-05 15:05Z,All is well\n',
      { type: 'application/csv' },
    ],
    [
      'CSV of a spreadsheet',
      '\ufeffDatum;Date;Time;Event\r\n;05.03.2024;15:32;Alarms\r\n;05.03.2024;15:40;"Rollback begins"\r\n;05.03.2024;16:05;All is well\r\n',
      { type: 'text/csv', timeZone: 'Europe/Berlin' },
    ],
    [
      'headings with times of 12 hours',
      'Incident date: Mar 5, 2024\n\nAll times are in PST.\n\n## Timeline\n\n#### 6:32 AM PST\n\nAlarms\n\n#### 6:40 a.m. PT: Rollback begins\n\n#### [7:05 AM] All is well\n',
      {},
    ],
  ])('%s', (_what, content, received) => {
    const document = parse(content, received);
    expect(
      eventsOf(document).map((event) => event.replace(/: (?=[A-Z])|Event: |\u00a0/g, ' ').replaceAll('  ', ' ')),
    ).toEqual(THREE);
    expect(document).not.toHaveProperty('skipped');
  });

  test('UTF-16 of a spreadsheet, and the files of a raw address by their ending', () => {
    expect(eventsOf(parse(UTF_16, { type: 'text/csv' }))).toEqual(['2024-03-05T14:32Z Störung']);
    const csv = { type: 'text/plain', path: '/a/b.CSV' };
    expect(read('at,body\n2024-03-05T14:32:00Z,Down', csv)).toEqual(['2024-03-05T14:32Z Down']);
    const json = JSON.stringify({ events: [{ at: '2024-03-05T14:32:00Z', body: 'Down' }] });
    expect(read(json, { type: 'text/plain', path: '/a/b.json' })).toEqual(['2024-03-05T14:32Z Down']);
  });
});

describe('the date', () => {
  test.each([
    ['## 2024-03-05'],
    ['## March 5, 2024'],
    ['**5 March 2024**'],
    ['Tuesday, March 5th 2024'],
    ['### Day 1: 5 Mar 2024'],
    ['<h3 id="x">March 5, 2024</h3>'],
    ['March 5, 2024\n-------------'],
    ['5.3.2024'],
    ['2024/03/05'],
    ['- 2024-03-05'],
  ])('is that of %j above', (line) => {
    expect(read(`${line}\n\n- 14:32:10 Down\n`)).toEqual(['2024-03-05T14:32:10Z Down']);
  });

  test.each([
    ['no date at all', '- 14:32 Down', 'it has a time and no date'],
    ['a heading with other words', '# Published 2024-03-08\n\n- 14:32 Down', 'it has a time and no date'],
    [
      'a heading with the date of the document',
      '# Outage (updated March 8, 2024)\n\n- 14:32 Down',
      'it has a time and no',
    ],
    ['a line with other words', 'Written on 2024-03-08\n\n- 14:32 Down', 'it has a time and no date'],
    ['a name with a date', '# INC-2024-03-08 and 2024-03-08-checkout\n\n- 14:32 Down', 'it has a time and no date'],
    ['two dates of a heading', '# Down, 2024-03-05 to 2024-03-06\n\n- 14:32 Down', 'the heading above it has several'],
    ['no year in a heading', '# Down, 2024-03-05\n\n## Again on March 6\n\n- 14:32 Down', 'its date has no year'],
    ['another section', '## 2024-03-05\n\n## Next\n\n- 14:32 Down', 'it has a time and no date'],
    ['no year', '# 2023\n\n### March 5\n\n- 14:32 Down', 'its date has no year'],
    ['slashes', '## 03/05/2024\n\n- 14:32 Down', 'its date has slashes and does not begin with the year'],
    ['a day that does not exist', '## February 30, 2024\n\n- 14:32 Down', 'its date does not exist'],
    ['a date behind the time', '## 2024-03-05\n\n- 14:32 March 4, 2024 it began', 'a date is behind its time'],
    ['a time that does not exist', '## 2024-03-05\n\n- 25:10 Down', 'its time does not exist'],
    ['13 PM', '## 2024-03-05\n\n- 13:10 PM Down', 'its time does not exist'],
  ])('is not guessed: %s', (_what, content, reason) => {
    const document = parse(content);
    expect(document).toMatchObject({
      status: 'invalid',
      skippedCount: 1,
      skipped: [{ reason: expect.stringContaining(reason) }],
    });
  });

  test('holds in the sections below its own, until the next one', () => {
    const content =
      '## March 5, 2024\n\n### First\n\n- 14:32 a\n\n**March 6, 2024**\n\n#### Second\n\n- 09:00 b\n\n## After\n\n- 10:00 c\n';
    expect(read(content)).toEqual(['2024-03-05T14:32Z a', '2024-03-06T09:00Z b']);
    expect(skippedOf(content)).toEqual(['15: it has a time and no date']);
  });

  describe('may stand behind the word Date, or among other words of a heading, and the result says where', () => {
    test.each([
      ['**Date:** 2024-03-05\n\n## Timeline\n\n- 14:32 Down', 1],
      ['# Postmortem\n\n**Authors:** Ana\n**Date**: March 5, 2024\n**Status:** done\n\n## Timeline\n\n14:32 Down', 4],
      ['# Postmortem\n\nDate: 2024-03-05\n---\n\n## Timeline\n\n- 14:32 Down', 3],
      ['# Postmortem\n\n| Field | Value |\n|--|--|\n| Date | 2024-03-05 |\n\n## Timeline\n\n- 14:32 Down', 5],
      ['# Checkout is down, 2024-03-05\n\n## Timeline\n\n- 14:32 Down', 1],
      ['# 2024-03-05: Checkout is down\n\n| Time | What |\n|--|--|\n| 14:32 | Down |', 1],
      ['Checkout is down (Tuesday, March 5th 2024)\n======\n\n- 14:32 Down', 1],
      // A section that only describes the incident.
      ['# Down\n\n## Summary\n\n- **Date:** 2024-03-05\n- **Impact:** all\n\n## Timeline\n\n- 14:32 Down', 5],
      ['## Details\n\nDate: 2024-03-05\n\n## Cause\n\nA release.\n\n## Timeline\n\n- 14:32 Down', 3],
    ])('%j', (content, line) => {
      const document = parse(content);
      expect(eventsOf(document)).toEqual(['2024-03-05T14:32Z Down']);
      expect(document.reason).toBe(`1 events have the date of line ${line}`);
    });

    test('times below another date have that, and those of another incident none', () => {
      const content =
        '# First\n\nDate: 2024-03-05\n\n- 14:32 a\n\n## March 6, 2024\n\n- 09:00 b\n\n# Second\n\n- 10:00 c\n';
      expect(read(content)).toEqual(['2024-03-05T14:32Z a', '2024-03-06T09:00Z b']);
      expect(skippedOf(content)).toEqual(['13: it has a time and no date']);
      // It does not end a date that can mean nothing else.
      const below = '# March 6, 2024\n\n## Rollback to 2024-03-01\n\nDate: 2024-03-08\n\n- 09:00 b\n';
      expect(read(below)).toEqual(['2024-03-06T09:00Z b']);
      expect(parse(below)).not.toHaveProperty('reason');
      // An entry has its date for itself.
      const entry = '# Timeline\n\n## 2024-03-01 10:00 Deployed\n\nText\n\n## Later\n\n- 09:00 b\n';
      expect(read(entry)).toEqual([expect.stringMatching(/^2024-03-01T10:00Z/)]);
    });

    test('the time zone is that of the workspace, and midnight does not change the day', () => {
      const document = parse('**Date:** 2024-03-05\n\n- 23:50 a\n- 00:10 b\n', { timeZone: 'Europe/Berlin' });
      expect(eventsOf(document)).toEqual(['2024-03-05T22:50Z a', '2024-03-04T23:10Z b']);
      expect(document).toMatchObject({
        timeZones: [{ timeZone: 'Europe/Berlin', source: 'workspace' }],
        reason:
          '1 events are earlier than the one before them below the same date, the first of them at line 4: they may be of another day; 2 events have the date of line 1',
      });
    });
  });

  test('stays when times go back, and the result says so', () => {
    const document = parse('## 2024-03-05\n\n- 23:50 a\n- 00:10 b\n- 00:20 c\n');
    expect(eventsOf(document)).toEqual(['2024-03-05T23:50Z a', '2024-03-05T00:10Z b', '2024-03-05T00:20Z c']);
    expect(document.reason).toMatch(/^1 events are earlier .* at line 4: they may be of another day$/);
  });

  test('is a row of its own in tables, or a column', () => {
    expect(
      read('| Time | What |\n|--|--|\n| **March 5, 2024** | |\n| 14:32 | a |\n| 2024-03-06 | |\n| 00:10 | b \\| c |\n'),
    ).toEqual(['2024-03-05T14:32Z a', '2024-03-06T00:10Z b | c']);
    const rows = 'Date,Time,Who,What\n2024-03-05,14:32,Ana,Down\n,14:40,Bo,Up\n';
    expect(read(rows, { type: 'text/csv' })).toEqual(['2024-03-05T14:32Z Who: Ana\nWhat: Down']);
    expect(skippedOf(rows, { type: 'text/csv' })).toEqual(['3: its date cannot be read']);
  });
});

describe('the zone', () => {
  const at = (time: string, received: Received = {}) => parse(`## 2024-07-05\n\n- ${time}: x\n`, received);
  test.each([
    ['14:32 UTC', '14:32'],
    ['14:32Z', '14:32'],
    ['14:32 (GMT)', '14:32'],
    ['**14:32** UTC', '14:32'],
    ['14:32 +02:00', '12:32'],
    ['14:32 -0500', '19:32'],
    ['14:32:10-05:00', '19:32:10'],
    ['14:32 UTC+2', '12:32'],
    ['2:32 PM PDT', '21:32'],
    ['14:32 CEST', '12:32'],
    ['14:32 ET', '18:32'],
    ['14:32 Europe/London', '13:32'],
  ])('of %s is its own', (time, utc) => {
    const document = at(time, { timeZone: 'Asia/Tokyo' });
    expect(eventsOf(document)).toEqual([`2024-07-05T${utc}Z x`]);
    expect(document).not.toHaveProperty('timeZones');
  });

  test.each(['CST', 'IST', 'BST'])('%s is left out, because it names several', (zone) => {
    expect(at(`14:32 ${zone}`)).toMatchObject({
      status: 'invalid',
      skipped: [{ reason: expect.stringContaining(zone) }],
    });
  });

  test('is not a word of the text, nor the end of a span', () => {
    expect(read('## 2024-03-05\n\n- 14:32 DNS fails\n- 14:40-15:10 Slow\n- 14:50 -5 °C\n')).toEqual([
      '2024-03-05T14:32Z DNS fails',
      '2024-03-05T14:40Z 15:10 Slow',
      '2024-03-05T14:50Z -5 °C',
    ]);
  });

  test.each([
    ['## Timeline (UTC)\n\n### 2024-03-05', 'UTC'],
    ['## 2024-03-05 (all times in CET)', '+01:00'],
    ['All times are in UTC.\n\n## 2024-03-05', 'UTC'],
    ['Time zone: America/New_York\n\n## 2024-03-05', 'America/New_York'],
    ['## 2024-03-05', 'Asia/Tokyo'],
  ])('without one is that of the document or of the workspace: %j', (above, timeZone) => {
    const document = parse(`${above}\n\n- 14:32 Down\n`, { timeZone: 'Asia/Tokyo' });
    const source = timeZone === 'Asia/Tokyo' ? 'workspace' : 'document';
    expect(document.timeZones).toEqual([{ timeZone, source }]);
    const hours = { UTC: '14', '+01:00': '13', 'America/New_York': '19', 'Asia/Tokyo': '05' }[timeZone];
    expect(eventsOf(document)).toEqual([`2024-03-05T${hours}:32Z Down`]);
  });

  test('is not guessed if the document names several, or one of several meanings', () => {
    const entry = '## 2024-03-05\n\n- 14:32 Down\n';
    expect(skippedOf(`All times are UTC.\n\nTimes in PST.\n\n${entry}`)).toEqual([
      '7: the document names several time zones',
    ]);
    expect(skippedOf(`All times are in IST.\n\n${entry}`)).toEqual([
      '5: IST is not an abbreviation of one known time zone',
    ]);
  });

  test('leaves out times that do not exist or come twice', () => {
    const content = '## 2026-03-29\n\n- 02:30 a\n- 03:30 b\n\n## 2026-10-25\n\n- 02:30 c\n- 02:30 +01:00 d\n';
    const received = { timeZone: 'Europe/Berlin' };
    expect(read(content, received)).toEqual(['2026-03-29T01:30Z b', '2026-10-25T01:30Z d']);
    expect(skippedOf(content, received)).toEqual([
      '3: its time is skipped on that day in Europe/Berlin',
      '8: its time comes twice on that day in Europe/Berlin, and it has no offset',
    ]);
  });
});

test('what a list with times has besides is left out, with its line', () => {
  const content =
    '## 2024-03-05\n\n- 14:32 a\n- About noon: b\n- 2024-03-05: c\n- 15:00 d\n\nText\n\n- No list of times\n';
  expect(read(content)).toHaveLength(2);
  expect(skippedOf(content)).toEqual(['4: it does not start with a time', '5: it has a date and no time']);
  const many = `## 2024-03-05\n\n- 14:32 a\n${'- x\n'.repeat(30)}`;
  expect(parse(many)).toMatchObject({ skippedCount: 30, skipped: { length: 20 } });
});

test('lines of CSV are counted with those of their cells', () => {
  expect(skippedOf('at,body\n2024-03-05T14:32:00Z,"a\nb"\n\nnoon,c\n', { type: 'text/csv' })).toEqual([
    '5: its time cannot be read',
  ]);
});

test('what was read before times of day keeps its text', () => {
  expect(read('## 2024-03-05\n\n- 2024-03-05T14:32:00Z Down\n  - 14:40 more\n2024-03-06\n\n  and more')).toEqual([
    '2024-03-05T14:32Z Down\n- 14:40 more\n2024-03-06\n\nand more',
  ]);
});
