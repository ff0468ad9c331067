import { describe, expect, test } from '@jest/globals';
import { parseCsv } from '../../src/source-imports/domain/csv.ts';

const AT = '2026-11-20T10:00:00Z';

const read = (text: string) => {
  const parsed = parseCsv(text);
  return 'reason' in parsed ? parsed.reason : parsed.entries.map(({ number: _, ...entry }) => entry);
};
const nothing = { title: '', type: '', tags: [''] };

test('columns have any order and case, and unknown ones are ignored', () => {
  expect(read(`Tags , BODY,Author,at,Title,type\na;b,Down,Ana,${AT},Alarm,note\n`)).toEqual([
    { at: AT, title: 'Alarm', body: 'Down', type: 'note', tags: ['a', 'b'] },
  ]);
});

test('tags are separated by a comma or a semicolon', () => {
  expect(read(`at,body,tags\n${AT},Down,"a,b;c"`)).toMatchObject([{ tags: ['a', 'b', 'c'] }]);
});

test('a time may have a space instead of the T, and surrounding blanks', () => {
  expect(read('at,body\n 2026-11-20 10:00:00Z ,Down')).toMatchObject([{ at: AT }]);
});

describe('cells', () => {
  test.each([
    ['quoted', '"Down, and out"', 'Down, and out'],
    ['with quotation marks', '"He said ""no"""', 'He said "no"'],
    ['with line ends', '"one\r\ntwo\nthree\rfour"', 'one\r\ntwo\nthree\rfour'],
    ['with blanks', '  Down ', '  Down '],
    ['with quotation marks that quote nothing', '5" disk "full"', '5" disk "full"'],
  ])('%s are kept as they are', (_what, cell, body) => {
    expect(read(`at,body,title\r\n${AT},${cell},t\r\n`)).toEqual([{ ...nothing, at: AT, body, title: 't' }]);
  });

  test.each(['\n', '\r\n', '\r'])('rows end with %j', (end) => {
    expect(read(['at,body', `${AT},One`, '', `${AT},Two`, ''].join(end))).toMatchObject([
      { body: 'One' },
      { body: 'Two' },
    ]);
  });

  test('that are missing are empty, and blank rows are ignored', () => {
    expect(read(`at,body,title\n,,\n${AT}\n , ,\n`)).toEqual([{ ...nothing, at: AT, body: '' }]);
  });

  test('beyond the header invalidate the event unless they are blank', () => {
    expect(read(`at,body\n${AT},Down, and out\n${AT},Up,,\n`)).toEqual([
      { violation: 'it has more cells than the header' },
      { ...nothing, at: AT, body: 'Up' },
    ]);
  });
});

test.each([
  ['', /header row/],
  ['title,body\nx,y', /columns at and body/],
  [`body\n${AT}`, /columns at and body/],
  [`at|body\n${AT}|Down`, /columns at and body/],
  [`at,body,AT\n${AT},Down,x`, /two columns named at/],
  ['at,body\n\n,\n', /no rows/],
  [`at,body\n${AT},"Down\n${AT},Up`, /not closed/],
])('%j has no events, with a reason', (text, why) => expect(read(text)).toMatch(why));

test('column names may equal inherited properties', () => {
  expect(read(`__proto__,constructor,at,body\nx,y,${AT},Down`)).toEqual([{ ...nothing, at: AT, body: 'Down' }]);
});
