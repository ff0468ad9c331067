import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { inspectDocuments } from '../verification/checks/inspect-documents.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tocsin-documents-'));
  await mkdir(path.join(root, 'docs'));
});
afterEach(async () => rm(root, { recursive: true, force: true }));

async function problemsIn(files: Record<string, string>): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, name), text);
  return inspectDocuments(root).problems;
}

test('accepts links that resolve', async () => {
  const report = await problemsIn({
    'README.md':
      '[a](docs/a.md) [b](docs/a.md#two-words) [c](docs/) [d](#top) [e](https://example.com/x) [f][ref]\n\n' +
      '# Top\n\n[ref]: docs/a.md#code-and-emphasis-1\n\n```md\n[not a link](nowhere.md)\n```\n\n`[nor this](nowhere.md)`\n',
    'docs/a.md': '# Two words\n\n## `Code` and *emphasis*\n\n## Code and emphasis\n\n[up](../README.md#top)\n',
  });
  expect(report).toEqual([]);
  expect(inspectDocuments(root)).toMatchObject({ documents: 2, links: 6 });
});

test.each([
  ['[a](docs/b.md)', 'README.md: the link docs/b.md points to no file'],
  ['![a](docs/b.png)', 'README.md: the link docs/b.png points to no file'],
  ['[a][b]\n\n[b]: docs/b.md', 'README.md: the link docs/b.md points to no file'],
  ['[a](docs/a.md#three)', 'README.md: the link docs/a.md#three points to no heading of docs/a.md'],
  ['[a](#nowhere)', 'README.md: the link #nowhere points to no heading of README.md'],
  [
    '[a](docs/example.conf#one)',
    'README.md: the link docs/example.conf#one has a fragment but does not point to a Markdown file',
  ],
  ['[a](../other/a.md)', 'README.md: the link ../other/a.md points outside the repository'],
  ['```nginx file=docs/none.conf\nlisten 80;\n```', 'README.md: quotes docs/none.conf, which does not exist'],
  ['```nginx file=docs/example.conf\nlisten 80;\n```', 'README.md: does not match docs/example.conf'],
])('reports %j', async (text, problem) => {
  const files = { 'README.md': text, 'docs/a.md': '# Two words\n', 'docs/example.conf': 'listen 443;\n' };
  expect(await problemsIn(files)).toEqual([problem]);
});

test('accepts quotes of a part of a file', async () => {
  const files = {
    'README.md': '```nginx file=docs/b.conf\ntwo;\nthree;\n```\n',
    'docs/b.conf': 'one;\ntwo;\nthree;\n',
  };
  expect(await problemsIn(files)).toEqual([]);
});
