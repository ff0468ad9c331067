import { describe, expect, test } from '@jest/globals';
import { isBlank } from '@tocsin/schemas';
import { text as anyText } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { parseSourceDocument } from '../../src/source-imports/domain/document.ts';

const AT = '2026-11-20T10:00:00Z';
const START = '2026-11-20T10:00:00.000Z';
const MEBIBYTE = 1_048_576;

const receive = (contentType: string | undefined, body: Uint8Array) =>
  parseSourceDocument({ contentType, body, path: '/', timeZone: 'UTC' });
const read = (type: string | undefined, text: string) => receive(type, Buffer.from(text));
const json = (...events: unknown[]) => read('application/json', JSON.stringify({ events }));
/** The only event, or the reason why there is none. */
const only = (event: unknown) => {
  const document = json(event);
  return document.status === 'imported' ? document.events[0] : document.reason;
};

describe('the format', () => {
  test.each([
    ['application/json', `{"events":[{"at":"${AT}","body":"Down"}]}`],
    ['Application/JSON; charset=utf-8', `\ufeff{"events":[{"at":"${AT}","body":"Down"}]}`],
    ['text/csv', `at,body\n${AT},Down`],
    ['text/csv; header=present; charset="UTF-8"', `\ufeffat,body\n${AT},Down`],
    ['text/markdown;variant=GFM', `- ${AT} Down`],
    ['text/x-markdown', `\ufeff- ${AT} Down`],
    ['text/plain; charset=utf-8', `- ${AT} Down`],
    ['application/csv', `\ufeffat;body\r\n${AT};Down`],
    ['text/tab-separated-values', `at\tbody\n${AT}\tDown`],
  ])('%s', (type, text) => {
    expect(read(type, text)).toEqual({
      status: 'imported',
      events: [{ startedAt: START, title: '', body: 'Down', type: 'import', tags: [] }],
    });
  });

  test.each([undefined, '', 'text/html', 'application/octet-stream', 'application/ld+json', 'json'])(
    '%s is unsupported',
    (type) => expect(read(type, `- ${AT} Down`)).toMatchObject({ status: 'unsupported' }),
  );

  test.each(['application/json', 'text/csv', 'text/markdown'])('%s without content is invalid', (type) => {
    const reasonFor = (bytes: Uint8Array) => receive(type, bytes);
    expect(reasonFor(Buffer.alloc(0))).toEqual({ status: 'invalid', reason: 'The document is empty' });
    expect(reasonFor(Buffer.from(' \n\t'))).toEqual({ status: 'invalid', reason: 'The document is empty' });
    expect(reasonFor(Buffer.from([0x61, 0xff]))).toEqual({
      status: 'invalid',
      reason: 'The document is not UTF-8 text',
    });
    expect(reasonFor(Buffer.from('What is this?'))).toMatchObject({ status: 'invalid' });
  });

  test.each([
    ['{"events":[', /not valid JSON/],
    ['[]', /no list named events/],
    ['null', /no list named events/],
    ['{"events":{}}', /no list named events/],
    [`{"__proto__":{"events":[{"at":"${AT}","body":"Down"}]}}`, /no list named events/],
    ['{"events":[]}', /empty/],
  ])('%s has no list of events', (text, why) => {
    expect(read('application/json', text)).toEqual({ status: 'invalid', reason: expect.stringMatching(why) });
  });
});

describe('an event', () => {
  test("has the document's properties, and unknown ones are ignored", () => {
    expect(
      only({
        at: '2026-11-20T11:00:00+01:00',
        title: ' Alarm ',
        body: ' Down ',
        type: ' page ',
        tags: ['b', ' B', ''],
        x: 1,
      }),
    ).toEqual({ startedAt: START, title: 'Alarm', body: ' Down ', type: 'page', tags: ['b'] });
  });

  test('has the same limits as one of a request', () => {
    const event = {
      at: AT,
      title: '😀'.repeat(255),
      body: '😀'.repeat(65_536),
      type: '😀'.repeat(64),
      tags: Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(64, 'x')),
    };
    const { at: _at, ...rest } = event;
    expect(only(event)).toEqual({ ...rest, startedAt: START });
  });

  test.each([undefined, null, '', '  ', 'import', 'Resolution', 'ai_suggested'])(
    'of type %p gets the type import',
    (type) => {
      expect(only({ at: AT, body: 'Down', type })).toMatchObject({ type: 'import' });
    },
  );

  test('may have null properties', () => {
    expect(only({ at: AT, body: 'Down', title: null, tags: null })).toMatchObject({ title: '', tags: [] });
  });

  test.each<[unknown, string]>([
    ['Down', 'it is not a JSON object'],
    [[AT, 'Down'], 'it is not a JSON object'],
    [{ body: 'Down' }, 'its time is not an RFC 3339 timestamp with a time zone'],
    [{ at: '2026-11-20T10:00:00', body: 'Down' }, 'its time is not'],
    [{ at: '2026-11-20 10:00:00Z', body: 'Down' }, 'its time is not'],
    [{ at: '2026-02-30T10:00:00Z', body: 'Down' }, 'its time is not'],
    [{ at: 1_795_168_800, body: 'Down' }, 'its time is not'],
    [{ at: AT }, 'it has no body'],
    [{ at: AT, body: ' \n' }, 'it has no body'],
    [{ at: AT, body: 5 }, 'its body is not text'],
    [{ at: AT, body: 'x'.repeat(65_537) }, 'its body is longer than 65536 characters'],
    [{ at: AT, body: 'a\0b' }, 'its body contains characters that cannot be stored'],
    [{ at: AT, body: '\ud800' }, 'its body contains characters that cannot be stored'],
    [{ at: AT, body: 'x', title: {} }, 'its title is not text'],
    [{ at: AT, body: 'x', title: '😀'.repeat(256) }, 'its title is longer than 255 characters'],
    [{ at: AT, body: 'x', type: '\0' }, 'its type contains characters that cannot be stored'],
    [{ at: AT, body: 'x', type: 'x'.repeat(65) }, 'its type is longer than 64 characters'],
    [{ at: AT, body: 'x', tags: 'a' }, 'its tags are not a list'],
    [{ at: AT, body: 'x', tags: [null] }, 'its tags are not all text'],
    [{ at: AT, body: 'x', tags: ['x'.repeat(65)] }, 'one of its tags is longer than 64 characters'],
    [{ at: AT, body: 'x', tags: Array.from({ length: 51 }, (_, n) => `${n}`) }, 'it has more than 50 tags'],
  ])('%# is not valid', (event, why) => {
    expect(only(event)).toContain(`The document has no valid event (1 invalid); number 1: ${why}`);
  });
});

describe('any content of a document', () => {
  const TYPES = ['application/json', 'text/csv', 'text/markdown'];
  const piece = fc.oneof(
    anyText,
    fc.constantFrom(
      'at,body\n',
      '"',
      ',',
      '\n',
      '\r\n',
      '- ',
      '  ',
      '\t',
      '**',
      '`',
      '```',
      '<!--',
      '-->',
      AT,
      ': ',
      '{"events":[',
      '## March 5, 2024',
      '14:32',
      ' UTC',
      '| Time |',
      '|---|',
      '<table><tr><th>Time<td>',
      '</table>',
    ),
  );

  test.each(TYPES)('%s is parsed or rejected', (type) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.array(piece).map((pieces) => Buffer.from(pieces.join(''))),
        ),
        (bytes) => {
          const document = receive(type, bytes);
          if (document.status === 'imported') expect(document.events.length).toBeGreaterThan(0);
          else expect(document).toMatchObject({ status: 'invalid', reason: expect.stringMatching(/^[A-Z].{10,200}$/) });
        },
      ),
    );
  });

  const body = anyText.filter((each) => !isBlank(each));
  const events = fc.array(fc.record({ title: anyText, body }), { minLength: 1, maxLength: 10 });
  const kept = (document: ReturnType<typeof read>) =>
    document.status === 'imported' ? document.events.map(({ title, body }) => ({ title, body })) : document.reason;
  const trimmed = (entries: { title: string; body: string }[]) =>
    entries.map(({ title, body }) => ({ title: title.trim(), body }));

  test('JSON texts are unchanged', () => {
    fc.assert(
      fc.property(events, (entries) => {
        expect(kept(json(...entries.map((each) => ({ at: AT, ...each }))))).toEqual(trimmed(entries));
      }),
    );
  });

  test('CSV texts are unchanged', () => {
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(events, fc.constantFrom('\n', '\r\n', '\r'), (entries, end) => {
        const rows = entries.map((each) => [quoted(each.title), AT, quoted(each.body)].join(','));
        expect(kept(read('text/csv', ['title,at,body', ...rows].join(end)))).toEqual(trimmed(entries));
      }),
    );
  });

  test('Markdown texts are unchanged except for indentation', () => {
    const line = fc.stringMatching(
      /^[A-Za-z0-9äß😀*_`#>|&;:.,!?-]([A-Za-z0-9äß😀*_`#>|&;:.,!? -]*[A-Za-z0-9äß😀.!?])?$/u,
    );
    const lines = fc.array(
      line.filter((each) => !/^(?:[-*+>#`~]|\d+[.)])/.test(each)),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 5 }), (entries) => {
        const items = entries.map((each) => `- ${AT} | ${each.join('\n  ')}`);
        expect(kept(read('text/markdown', items.join('\n')))).toEqual(
          entries.map((each) => ({ title: '', body: `| ${each.join('\n')}` })),
        );
      }),
    );
  });

  test.each<[string, string, string]>([
    ['application/json', 'nesting without end', '['.repeat(MEBIBYTE)],
    ['application/json', 'nesting', `{"events":[${'['.repeat(400_000)}${']'.repeat(400_000)}]}`],
    ['application/json', 'empty objects', `{"events":[{}${',{}'.repeat(349_000)}]}`],
    ['application/json', 'tags', `{"events":[{"at":"${AT}","body":"x","tags":["a"${',"a"'.repeat(260_000)}]}]}`],
    ['text/csv', 'empty rows', `at,body\n${'\n'.repeat(MEBIBYTE - 8)}`],
    ['text/csv', 'rows of nothing', `at,body\n${',\n'.repeat(MEBIBYTE / 2 - 4)}`],
    ['text/csv', 'quotation marks', '"'.repeat(MEBIBYTE)],
    ['text/csv', 'columns', `at,body${',at'.repeat(MEBIBYTE / 3 - 3)}`],
    ['text/csv', 'one cell', `at,body\n${AT},${'x'.repeat(MEBIBYTE - 30)}`],
    ['text/markdown', 'one line', `- ${AT} ${'x'.repeat(MEBIBYTE - 30)}`],
    ['text/markdown', 'blanks', `- ${AT}${' '.repeat(MEBIBYTE - 30)}x`],
    ['text/markdown', 'a line of blanks', `- ${' '.repeat(MEBIBYTE)}`],
    ['text/markdown', 'markers', '- '.repeat(MEBIBYTE / 2)],
    ['text/markdown', 'stars', '*'.repeat(MEBIBYTE)],
    ['text/markdown', 'wrapped stars', `- ${'*'.repeat(MEBIBYTE - 30)}${AT}`],
    ['text/markdown', 'a fraction', `- 2026-11-20T10:00:00.${'1'.repeat(MEBIBYTE - 30)}`],
    ['text/markdown', 'separators', `- ${AT}${' -'.repeat(MEBIBYTE / 2 - 30)}x`],
    ['text/markdown', 'empty lines', `- ${AT}${'\n'.repeat(MEBIBYTE - 30)}`],
    ['text/markdown', 'backticks', '`'.repeat(MEBIBYTE)],
    ['text/markdown', 'fences', '```x\n'.repeat(MEBIBYTE / 5)],
    ['text/markdown', 'comments', '<!--\n'.repeat(MEBIBYTE / 5)],
    ['text/markdown', 'deeper and deeper items', deeper(1_400)],
    ['text/markdown', 'times', `# 2024-03-05\n${'- 14:32 x\n'.repeat(100_000)}`],
    ['text/markdown', 'dates with times', '- March 5, 2024 2:32 pm x\n'.repeat(40_000)],
    ['text/markdown', 'headings', '# Timeline of the incident 2024-03-05 (UTC)\n'.repeat(23_000)],
    ['text/markdown', 'plain words', 'all times are in the timeline of the day shown for all\n'.repeat(19_000)],
    ['text/markdown', 'pipes', `${'|'.repeat(500_000)}\n${'|-'.repeat(250_000)}`],
    ['text/markdown', 'delimiters', '|-|\n'.repeat(MEBIBYTE / 4)],
    ['text/markdown', 'rows', `# 2024-03-05\n|Time|x|\n|-|-|\n${'|14:32|x|\n'.repeat(104_000)}`],
    [
      'text/markdown',
      'columns',
      `|Time|${'x|'.repeat(20_000)}\n|-|${'-|'.repeat(20_000)}\n${'|14:32|x|\n'.repeat(90_000)}`,
    ],
    ['text/markdown', 'tables without end', '<table>\n'.repeat(MEBIBYTE / 8)],
    ['text/markdown', 'tags', `<table>${'<td'.repeat(340_000)}</table>`],
    ['text/markdown', 'closing headings', `<h1>${'</h1> '.repeat(170_000)}x`],
    ['text/markdown', 'closed headings', `# ${'## '.repeat(349_000)}x`],
    ['text/markdown', 'underlines', 'x\n===\n'.repeat(MEBIBYTE / 6)],
    ['text/csv', 'times', `Time,Date,What\n${'14:32,2024-03-05,x\n'.repeat(55_000)}`],
  ])('%s: a mebibyte of %s is parsed', (type, _what, text) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MEBIBYTE + 100);
    expect(['imported', 'invalid']).toContain(read(type, text).status);
  });
});

/** Each item nested in the previous one. */
function deeper(count: number): string {
  return Array.from({ length: count }, (_, n) => `${' '.repeat(n)}- ${AT} x`).join('\n');
}
