import { expect, test } from '@jest/globals';
import { blocksOf, type Inline, inlinesOf } from '../src/markdown.ts';

const shown = (part: Inline): string =>
  part.kind === 'link'
    ? `<a ${part.url}>${part.text}</a>`
    : 'children' in part
      ? `<${part.kind}>${part.children.map(shown).join('')}</${part.kind}>`
      : part.kind === 'code'
        ? `<code>${part.text}</code>`
        : part.text;

test.each([
  ['**a** *b* `c*d*`', '<strong>a</strong> <em>b</em> <code>c*d*</code>'],
  ['**`a` is [b](https://b.example)**', '<strong><code>a</code> is <a https://b.example>b</a></strong>'],
  ['2 * 3 * 4, a*b*c, ** a **, **a', '2 * 3 * 4, a*b*c, ** a **, **a'],
  ['[a](https://a.example/1).', '<a https://a.example/1>a</a>.'],
  ['![plot](https://a.example/p.png)', '<a https://a.example/p.png>plot</a>'],
  [
    '<https://a.example> (https://b.example/x).',
    '<a https://a.example>https://a.example</a> (<a https://b.example/x>https://b.example/x</a>).',
  ],
  [
    '[a](javascript:alert) [b](mailto:b@b.example) ![c](data:x)',
    '[a](javascript:alert) [b](mailto:b@b.example) ![c](data:x)',
  ],
  ['<b>x</b> &amp; [a][1] https:// http://', '<b>x</b> &amp; [a][1] https:// http://'],
])('%s', (line, expected) => {
  expect(inlinesOf(line).map(shown).join('')).toBe(expected);
});

test('a text has headings, lists, quotes, code and paragraphs, one after the other', () => {
  const text =
    '# A\n\ntext\nmore\n* one\n- two\n1. first\n2) second\n> said\n>\n```sh\n# not a heading\r\u2028end\n```\n```\nopen';
  expect(blocksOf(text).map(({ kind, level, lines }) => [kind, level, lines])).toEqual([
    ['heading', 1, ['A']],
    ['text', 0, ['text', 'more']],
    ['bullets', 0, ['one', 'two']],
    ['numbers', 0, ['first', 'second']],
    ['quote', 0, ['said', '']],
    ['code', 0, ['# not a heading', '', 'end']],
    ['code', 0, ['open']],
  ]);
});
