import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { text as anyText } from '@tocsin/testing/arbitraries';
import { marked } from 'marked';
import { isWebAddress } from '../../src/incidents/domain/property-kinds.ts';
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
  ...['\n', '\r\n', '\r', '\n\n', ' ', '    ', '\t', '\u2028', '\u00a0', 'x', 'Ü', '😀', '0'],
];
const hostile = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS) }, anyText), { maxLength: 8 })
  .map((parts) => parts.join(''));

/** As a reader sees a text of several lines, and one that stands in one line. */
const seen = (text: string) =>
  text
    .trim()
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line) => line.trim());
const inOneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ');

const person = hostile.map((name) => ({ id: null, name }));

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

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const textOf = (html: string) =>
  html
    .replaceAll('<br>', '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** Two forms of an address that lead to the same place. */
const decoded = (address: string) => {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
};

/** The document as a reader of Markdown shows it. */
async function rendered(postmortem: PostmortemWire) {
  const html = marked.parse(await postmortemDocument(postmortem, ''), { async: false });
  const all = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}(?: [^>]*)?>([^]*?)</${tag}>`, 'g'))].map(([, inner = '']) => textOf(inner));
  const tags = Object.groupBy(
    [...html.matchAll(/<(\w+|[^\w/])/g)].map(([, tag = '']) => tag),
    (tag) => tag,
  );
  return { html, all, count: Object.fromEntries(Object.entries(tags).map(([tag, each]) => [tag, each?.length])) };
}

test('whatever is stored is shown as the text that it is, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(hostilePostmortem, async (postmortem) => {
      const { all, count, html } = await rendered(postmortem);
      const { people, custom_fields: fields, activity, links, services, attachments, moments } = postmortem;
      const { relations, follow_ups: work } = postmortem;
      const headings = [
        'Summary',
        'Moments',
        'People',
        'Services',
        'Custom fields',
        'Activity',
        'Related incidents',
        'Follow-ups',
        'Evidence',
      ];
      expect(all('h1')).toEqual([inOneLine(`INC-1: ${postmortem.title}`)]);
      expect(all('h2')).toEqual(headings);

      const lines = (...texts: string[]) => seen(texts.filter((text) => text !== '').join('\n')).join('\n');
      const cells = [
        ...people.map(({ person: { name } }) => ['Responder', lines(name)]),
        ...fields.map(({ name, text }) => [lines(name), lines(text)]),
        ...activity.map(({ type, author, title, body, changes, tags }) => [
          ...['2026-11-20 09:32:10', lines(type), lines(author.name)],
          lines(
            title,
            body,
            ...(tags.length > 0 ? [`Tags: ${tags.join(', ')}`] : []),
            ...changes.map(({ label, from, to }) => `${label}: ${from} → ${to}`),
          ),
        ]),
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
      const tables = 3 + (fields.length > 0 ? 1 : 0);
      expect(others).toEqual({
        ...{ h1: 1, h2: headings.length, table: tables, thead: tables, tbody: tables },
        th: 3 + 2 + (fields.length > 0 ? 2 : 0) + 4,
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
  const document = await postmortemDocument({ ...example, links, attachments: [] }, '');
  expect(document.slice(document.indexOf('- [x]')).split('\n').slice(0, 3)).toEqual([
    '- [x](<http://[::1]:8080/%5Ba%5D%28b%29>)',
    '- [x](<https://x.example/?a=1&amp;copy;=2#%7C>)',
    '- x: javascript:alert(1)',
  ]);
});
