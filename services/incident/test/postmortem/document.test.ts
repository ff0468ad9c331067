import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { text as anyText } from '@tocsin/testing/arbitraries';
import { marked, type Tokens } from 'marked';
import { blocksOf, type Inline, inlinesOf, isWebAddress } from '@tocsin/schemas/markdown';
import { postmortemOperations } from '../../src/postmortem/http/documentation.ts';
import { durationText, postmortemDocument } from '../../src/postmortem/http/document.ts';
import type { PostmortemWire } from '../../src/postmortem/http/wire.ts';

const { postmortem: example } = postmortemOperations.getIncidentPostmortem.reply;

/** What somebody writes who wants more than text, and what reads differently beside it. */
const FRAGMENTS = [
  ...['|', '||', '\\', '\\|', '`', '```', '~~~', '*', '**', '_', '__', '~~', '#', '# ', '- ', '+ ', '1. ', '2) ', '> '],
  ...['---', '***', '===', '|---|', ':-:', '- [ ] ', '<script>', '</td>', '<br>', '<!--', '-->', '<https://x.example>'],
  ...['&', '&amp;', '&#35;', '&nbsp;', '[a](b)', '![a](b)', '[a]: b', '[^1]', 'https://x.example', 'ftp://x.example'],
  ...['www.x.example', 'a@b.example', 'mailto:a@b.example', '"', "'", '(', ')', '<', '>', '$', '$&', '{{title}}', ':'],
  ...['@ana', '#12', 'GH-12', 'acme/web#12', '!7', '&3', '%1', '~bug', '/close', '\u202e', '\u2066', '**a** *b* `c`'],
  ...[
    '\n> ',
    '\n# ',
    '\n- ',
    '\n1. ',
    '\n```js\n',
    '\n~~~\n',
    '````',
    '\n<div>\n',
    '[a](https://x.example)',
    '![a](http://x.example/a.png)',
  ],
  ...[
    '[a](javascript:alert(1))',
    '[a][b]\n\n[b]: https://x.example',
    '\n\n## Evidence\n\n',
    '\n---\n',
    '\n    x',
    '`<b>`',
  ],
  ...['\n', '\r\n', '\r', '\n\n', ' ', '    ', '\t', '\u2028', '\u00a0', 'x', 'Ü', '😀', '0'],
];
const hostile = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS) }, anyText), { maxLength: 8 })
  .map((parts) => parts.join(''));

/** What stands for controls that would change the direction of the text behind them. */
const withControls = (text: string) =>
  text.replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (control) => {
    return `[U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
  });

/** As a reader sees a text of several lines, and one that stands in one line. */
const seen = (text: string) =>
  withControls(text)
    .trim()
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line) => line.trim());
const inOneLine = (text: string) => withControls(text).trim().replaceAll(/\s+/g, ' ');

const shownInline = (part: Inline): string =>
  'children' in part ? part.children.map(shownInline).join('') : part.text;
/** As the console shows a note. */
const shownNote = (text: string) =>
  blocksOf(text)
    .flatMap(({ kind, lines }) =>
      lines.map((line) => (kind === 'code' ? line : inlinesOf(line).map(shownInline).join(''))),
    )
    .join('\n');

const person = fc
  .record({ name: hostile, key: fc.option(hostile) })
  .map(({ name, key }) => ({ id: null, name, api_key: key === null ? null : { name: key, prefix: 'tcs_1234' } }));

const actor = ({ name, api_key: key }: { name: string; api_key: { name: string } | null }) =>
  key === null ? name : `${key.name} (key of ${name})`;

const hostilePostmortem: fc.Arbitrary<PostmortemWire> = fc
  .record({
    title: hostile,
    summary: hostile,
    label: hostile,
    regions: fc.array(hostile, { maxLength: 2 }),
    people: fc.array(person, { minLength: 1, maxLength: 2 }),
    services: fc.array(hostile, { maxLength: 2 }),
    fields: fc.array(fc.record({ slug: fc.constant('x'), name: hostile, text: hostile }), { maxLength: 2 }),
    events: fc.array(fc.record({ type: hostile, author: person, title: hostile, body: hostile }), { maxLength: 2 }),
    changes: fc.array(fc.record({ field: fc.constant('x'), label: hostile, from: hostile, to: hostile }), {
      maxLength: 2,
    }),
    links: fc.array(
      fc.record({
        label: hostile,
        url: fc.oneof(
          hostile,
          hostile.map((end) => `https://x.example/${end}`),
        ),
        summary: hostile,
      }),
      { maxLength: 3 },
    ),
    files: fc.array(hostile, { maxLength: 2 }),
    others: fc.array(hostile, { maxLength: 2 }),
    work: fc.array(fc.record({ title: hostile, owner: person }), { maxLength: 2 }),
  })
  .map(({ title, summary, label, regions, people, services, fields, events, changes, links, files, others, work }) => {
    const [entry] = example.activity;
    if (entry === undefined) throw new Error('the example has no activity');
    return {
      ...example,
      ...{ title, summary, regions },
      status: { key: 'x', label },
      severity: { key: 'x', label },
      people: people.map((each) => ({ role: 'responder', person: each })),
      services: services.map((slug) => ({ slug, tier: null })),
      team: null,
      custom_fields: fields,
      activity: [
        ...events.map((event) => ({ ...entry, ...event, kind: 'timeline_event' as const, changes: [] })),
        { ...entry, changes },
      ],
      relations: others.map((other) => ({
        ...{ type: 'related', incident_id: 2, human_id: 'INC-2', title: other, status: { key: 'x', label: other } },
      })),
      follow_ups: work.map((each) => ({ ...each, id: 1, status: 'open', due_on: '2026-12-01', external_url: '' })),
      links: links.map((link) => ({ ...link, timeline_event_id: null })),
      attachments: files.map((filename) => ({ id: 1, timeline_event_id: 1, filename, size_bytes: 1 })),
    };
  });

/** The elements of notes. */
const OF_NOTES = 'a blockquote br code em h3 h4 h5 h6 li ol p pre strong ul'.split(' ');

/** What a forge takes for a person, an issue or another thing of its own. */
const REFERENCE = /[@#!&%~$^][\p{L}\p{N}_"]|\bGH-\d/iu;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const textOf = (html: string) =>
  html
    .replaceAll('<br>', '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replaceAll('\u2060', '');

/** Two forms of an address that lead to the same place. */
const decoded = (address: string) =>
  address.replaceAll(/(?:%[\dA-F]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });

/** The document as a reader of Markdown shows it. */
async function rendered(postmortem: PostmortemWire) {
  const whole = marked.parse(await postmortemDocument(postmortem, { template: '' }), { async: false });
  const [before = '', after = ''] = whole.split('<h2>Activity</h2>');
  const end = after.indexOf('<h2>Related incidents</h2>');
  const activity = after.slice(0, end);
  const html = before + after.slice(end);
  const all = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}(?: [^>]*)?>([^]*?)</${tag}>`, 'g'))].map(([, inner = '']) => textOf(inner));
  const tags = Object.groupBy(
    [...html.matchAll(/<(\w+|[^\w/])/g)].map(([, tag = '']) => tag),
    (tag) => tag,
  );
  return {
    whole,
    activity,
    html,
    all,
    count: Object.fromEntries(Object.entries(tags).map(([tag, each]) => [tag, each?.length])),
  };
}

test('whatever is stored is shown as the text that it is, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(hostilePostmortem, async (postmortem) => {
      const { whole, activity: activityHtml, all, count, html } = await rendered(postmortem);
      const { people, custom_fields: fields, activity, links, services, attachments, moments } = postmortem;
      const { relations, follow_ups: work } = postmortem;
      const headings = [
        'Summary',
        'Moments',
        'People',
        'Services',
        'Custom fields',
        'Related incidents',
        'Follow-ups',
        'Evidence',
      ];
      expect(all('h1')).toEqual([inOneLine(`INC-1: ${postmortem.title}`)]);
      expect(all('h2')).toEqual(headings);
      expect(whole.match(/<h[12]/g)).toHaveLength(2 + headings.length);

      const lines = (...texts: string[]) => seen(texts.filter((text) => text !== '').join('\n')).join('\n');
      const cells = [
        ...people.map(({ person: each }) => ['Responder', lines(actor(each))]),
        ...fields.map(({ name, text }) => [lines(name), lines(text)]),
      ];
      const shown = all('td').slice(3 * moments.length);
      expect(shown).toEqual(cells.flat());

      const isNone = (text: string) => text === '';
      expect(all('li').map((text) => text.trim())).toEqual([
        `Status: ${inOneLine(postmortem.status.label)}`.trim(),
        `Severity: ${inOneLine(postmortem.severity.label)}`.trim(),
        'Customer impact: confirmed',
        ...(postmortem.regions.length > 0 ? [`Regions: ${inOneLine(postmortem.regions.join(', '))}`.trim()] : []),
        'Time to response: 6 min',
        ...services.map(({ slug }) => inOneLine(slug)),
        ...relations.map(({ title, status }) => inOneLine(`Related INC-2: ${title} (${status.label})`)),
        ...work.map(({ title, owner }) =>
          `${inOneLine(title)} (${inOneLine(`open, ${owner?.name}, due 2026-12-01`)})`.trim(),
        ),
        ...links.map(({ label, url, summary }) => {
          const name = isWebAddress(url) ? inOneLine(label) || inOneLine(url) : inOneLine(`${label}: ${url}`);
          return [name, inOneLine(summary)].filter((text) => !isNone(text)).join(': ');
        }),
        ...attachments.map(({ filename }) => inOneLine(`${filename} (1 bytes)`)),
      ]);
      const addresses = links.filter(({ url }) => isWebAddress(url)).map(({ url }) => new URL(url).href);
      expect([...html.matchAll(/<a href="([^"]*)">/g)].map(([, href = '']) => decoded(textOf(href)))).toEqual(
        addresses.map(decoded),
      );

      const tagsOfNotes = [...activityHtml.matchAll(/<\/?(\w+|[^\w/])/g)].map(([, tag = '']) => tag);
      expect(tagsOfNotes.filter((tag) => !OF_NOTES.includes(tag))).toEqual([]);
      expect(
        [...activityHtml.matchAll(/<\w+ ([^>]*)>/g)].filter(
          ([, more = '']) => !/^(?:href="https?:\/\/[^"]*"|start="1")$/.test(more),
        ),
      ).toEqual([]);
      const lists = marked
        .lexer(await postmortemDocument(postmortem, { template: '{{activity}}' }))
        .filter(({ type }) => type === 'list');
      const words = (text: string) => text.replaceAll(/\s+/g, '');
      const items = lists.flatMap((list) => (list as Tokens.List).items);
      expect(lists).toHaveLength(1);
      expect(items.map(({ tokens }) => words(textOf(marked.parser(tokens)).replaceAll('\n', '')))).toEqual(
        activity.map(({ type, author, title, body, changes, tags }) =>
          words(
            withControls(
              [
                `2026-11-20 09:32:10${actor(author)}: ${type}`,
                ...[title, shownNote(body)],
                ...(tags.length > 0 ? [`Tags: ${tags.join(', ')}`] : []),
                ...changes.map(({ label, from, to }) => `${label}: ${from} → ${to}`),
              ].join(''),
            ),
          ),
        ),
      );
      const prose = whole.replaceAll(/<(code)>[^]*?<\/code>/g, ' ').replaceAll(/<[^>]*>/g, ' ');
      expect(prose.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')).not.toMatch(
        REFERENCE,
      );

      const breaks = cells.flat().join('').split('\n').length - 1;
      const summary = seen(postmortem.summary);
      const summaryHtml = /<h2>Summary<\/h2>([^]*?)<h2>/.exec(html)?.[1] ?? '';
      expect(
        textOf(summaryHtml)
          .split('\n')
          .filter((line) => line !== ''),
      ).toEqual(summary.some((line) => line !== '') ? summary.filter((line) => line !== '') : ['None.']);
      const inSummary = summaryHtml.split('<br>').length - 1;
      const { td, tr, br = 0, p, a = 0, ...others } = count;
      expect([td, br, a]).toEqual([3 * moments.length + cells.flat().length, breaks + inSummary, addresses.length]);
      const tables = 2 + (fields.length > 0 ? 1 : 0);
      expect(others).toEqual({
        ...{ h1: 1, h2: headings.length, table: tables, thead: tables, tbody: tables },
        th: 3 + 2 + (fields.length > 0 ? 2 : 0),
        li: all('li').length,
        ul: [[1], services, relations, work, [...links, ...attachments]].filter(({ length }) => length > 0).length,
      });
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [5_405, '1 h 30 min 5 s'],
  [86_400 * 3 + 3_600 + 61, '3 d 1 h 1 min'],
])('%s seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test('an address of the web is a link, whatever is in it', async () => {
  const urls = ['http://[::1]:8080/[a](b)', 'https://x.example/?a=1&copy;=2#|', 'javascript:alert(1)'];
  const links = urls.map((url) => ({ label: 'x', url, summary: '', timeline_event_id: null }));
  const document = await postmortemDocument({ ...example, links, attachments: [] }, { template: '' });
  expect(document.slice(document.indexOf('- [x]')).split('\n').slice(0, 3)).toEqual([
    '- [x](<http://[::1]:8080/%5Ba%5D%28b%29>)',
    '- [x](<https://x.example/?a=1&amp;copy;=2#%7C>)',
    '- x: javascript:alert(1)',
  ]);
});
