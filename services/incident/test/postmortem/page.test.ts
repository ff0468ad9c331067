import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { marked } from 'marked';
import { BUILT_IN_TEMPLATE, sectionsOf } from '@tocsin/schemas/postmortem-template';
import { newPostmortem, type Section } from '../../src/postmortem/domain/written.ts';
import { postmortemDocument } from '../../src/postmortem/http/document.ts';
import { postmortemOperations } from '../../src/postmortem/http/documentation.ts';
import { htmlPage } from '../../src/postmortem/http/page.ts';

const { postmortem } = postmortemOperations.getIncidentPostmortem.reply;
const bodyOf = async (markdown: string) => {
  const page = await htmlPage('x', markdown);
  return page.slice(page.indexOf('<main>\n') + 7, page.indexOf('</main>'));
};

const written = (sections: readonly Section[], template = '') =>
  newPostmortem({ incidentId: 1, sections, template }, { now: '2026-11-20T10:00:00.000Z', actor: '1', key: null });

/** What a page may have: these tags, and of attributes only addresses and what follows from Markdown. */
const TAG =
  /<\/?(?:h[1-6]|p|ul|li|strong|em|del|br|hr|pre|code|blockquote|table|thead|tbody|tr|th|td)>|<ol(?: start="\d+")?>|<\/ol>|<(?:th|td) align="(?:left|right|center)">|<a href="(?:https?:\/\/|mailto:)[^"<>\s]*" rel="noopener noreferrer">|<\/a>|<input (?:checked="" )?disabled="" type="checkbox"> ?/gi;

const expectInert = (html: string) => expect(html.replaceAll(TAG, '').match(/[<>][^\n]{0,60}/g)).toBeNull();

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ...['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<pre>', '</pre>', '<!--', '-->', '<br>', '<'],
      ...[
        '[a](javascript:alert(1))',
        '[a](&#106;avascript:alert(1))',
        '![p](https://x.example/p.png)',
        '<https://a.b>',
      ],
      ...[
        '[x]: javascript:alert(1)\n',
        '[x]',
        '`',
        '```',
        '~~~',
        '\n',
        '\n\n',
        '"',
        "'",
        '&lt;',
        '&#60;',
        '\\',
        '| a |',
      ],
      ...[
        '\n|---|\n',
        '> ',
        '- ',
        '## ',
        '{{activity}}',
        '{{title}}',
        '[a](http://x" onclick="y)',
        '<svg/onload=a>',
        '*',
      ],
      ...['[a](mailto:x@y.example)', 'www.x.example', 'data:text/html,x', '</main>', '<a href=', '\u0000', '\u202e'],
    ),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  ),
  maxLength: 40,
});

test('nothing in any Markdown becomes active in the page', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (markdown) => expectInert(await bodyOf(markdown))),
    { numRuns: 2_000 },
  );
});

test('sections, titles and notes that are hostile are inert, and so is what is around them', async () => {
  const aSection = fc.record({
    key: fc.uuid(),
    title: hostile.map((text) => text.replaceAll(/[\n\r]/g, ' ')),
    body: hostile,
  });
  const property = fc.asyncProperty(fc.array(aSection, { maxLength: 4 }), hostile, async (sections, text) => {
    const activity = postmortem.activity.map((entry) => ({ ...entry, title: text, body: text, type: text }));
    const markdown = await postmortemDocument(
      { ...postmortem, title: text, summary: text, activity },
      { template: '', written: written([...sections, ...sectionsOf(BUILT_IN_TEMPLATE)]) },
    );
    expectInert(await bodyOf(markdown));
    // Who reads the Markdown with HTML sees none of theirs either.
    expect(marked.parse(markdown, { async: false })).not.toMatch(
      /<(?:script|img|svg|pre>(?!<code))|href="(?!https?:)/i,
    );
  });
  await fc.assert(property, { numRuns: 300 });
});

test('a page has what the Markdown has, also a long one that is converted in parts', async () => {
  const note = 'Rolled **back**\n- one\n- two\n```\n## no heading\n- no item\n```';
  const activity = Array.from({ length: 400 }, () => ({ ...postmortem.activity[1]!, title: '', body: note }));
  const markdown = await postmortemDocument({ ...postmortem, activity }, { template: '' });
  expect(markdown.length).toBeGreaterThan(32_768);
  const html = await bodyOf(markdown);
  const activityOf = (text: string) => text.slice(text.indexOf('<h2>Activity'), text.indexOf('<h2>Related'));
  const tags = (name: string) => activityOf(html).split(`<${name}>`).length - 1;
  expect([tags('pre'), tags('strong'), tags('h2')]).toEqual([400, 800, 1]);
  // One list of entries, and one in each.
  expect(tags('ul')).toBe(401);
  expect(html.match(/## no heading/g)).toHaveLength(400);
});

test('line breaks in cells, safe links and comments of a template are as in Markdown', async () => {
  expect(await bodyOf('a <!-- hidden -->b\n\n| x |\n| --- |\n| one<br>two |')).toBe(
    '<p>a b</p>\n<table>\n<thead>\n<tr>\n<th>x</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>one<br>two</td>\n</tr>\n</tbody></table>\n',
  );
  expect(await bodyOf('[a](https://x.example/?a=1&b=2) ![p](https://x.example/p.png) [m](mailto:a@b.example)')).toBe(
    '<p><a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer">a</a> <a href="https://x.example/p.png" rel="noopener noreferrer">p</a> <a href="mailto:a@b.example" rel="noopener noreferrer">m</a></p>\n',
  );
});

test('a section that is not as in the template is a note, and one that is stays as it is', async () => {
  const template = '<b>Intro</b>\n\n## Table\n\n| a |\n| --- |\n| {{severity}} |';
  const sections = sectionsOf(template);
  const whole = await postmortemDocument(postmortem, { template: '', written: written(sections, template) });
  expect(whole).toBe(`<b>Intro</b>\n\n## Table\n\n| a |\n| --- |\n| ${postmortem.severity.label} |\n`);
  const [intro, table] = sections as [Section, Section];
  const changed = [{ ...intro, body: `${intro.body}!` }, table];
  expect(await postmortemDocument(postmortem, { template: '', written: written(changed, template) })).toBe(
    whole.replace('<b>Intro</b>', '&lt;b&gt;Intro&lt;/b&gt;!'),
  );
});
