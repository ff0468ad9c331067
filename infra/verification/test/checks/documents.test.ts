import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { inspectDocuments } from '../../checks/inspect-documents.ts';
import { inspectNames } from '../../checks/inspect-names.ts';
import { inspectSections } from '../../checks/inspect-sections.ts';
import { inspectRooms, inspectTables } from '../../checks/inspect-unnamed.ts';

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
  ['```sh\nnpx tocsin whoami\n```', 'README.md: installs by name: npx tocsin'],
  ['Run `npx --yes @tocsin/cli`.', 'README.md: installs by name: npx --yes @tocsin'],
  ['```sh\nnpm install --global @tocsin/cli\n```', 'README.md: installs by name: npm install --global @tocsin/cli'],
  ['`pnpm add zod @tocsin/sdk`', 'README.md: installs by name: pnpm add zod @tocsin/sdk'],
  [
    '```json\n{ "command": "npx",\n  "args": ["-y", "tocsin", "mcp"] }\n```',
    'README.md: installs by name: "npx", "args": ["-y", "tocsin',
  ],
  ['`docker run --rm tocsin/gateway`', 'README.md: installs by name: docker run --rm tocsin/gateway'],
  ['```nginx file=docs/none.conf\nlisten 80;\n```', 'README.md: quotes docs/none.conf, which does not exist'],
  ['```nginx file=docs/example.conf\nlisten 80;\n```', 'README.md: does not match docs/example.conf'],
])('reports %j', async (text, problem) => {
  const files = { 'README.md': text, 'docs/a.md': '# Two words\n', 'docs/example.conf': 'listen 443;\n' };
  expect(await problemsIn(files)).toEqual([problem]);
});

test('accepts packages and images of the repository', async () => {
  const commands = [
    'npm pack -w @tocsin/sdk -w @tocsin/cli',
    'npm install ./tocsin-sdk-0.1.0.tgz /opt/tocsin/infra/cli',
    'npm install -w @tocsin/cli zod',
    'docker build -t localhost/tocsin/gateway . && docker run localhost/tocsin/gateway',
    'cd tocsin && npx jest',
  ];
  expect(await problemsIn({ 'README.md': ['[a](#b)', '# b', '```sh', ...commands, '```'].join('\n\n') })).toEqual([]);
});

test('accepts quotes of a part of a file', async () => {
  const files = {
    'README.md': '```nginx file=docs/b.conf\ntwo;\nthree;\n```\n',
    'docs/b.conf': 'one;\ntwo;\nthree;\n',
  };
  expect(await problemsIn(files)).toEqual([]);
});

test('reports files and functions that are not there, those of a table in the files of their row', async () => {
  await writeFile(path.join(root, 'docs/one.ts'), 'export const firstThing = 1;\n');
  await writeFile(path.join(root, 'docs/two.ts'), 'export const secondThing = 1;\n');
  const table =
    '| file | function | does |\n| - | - | - |\n| `docs/one.ts` | `firstThing`, `secondThing` | `secondThing` |\n';
  const text =
    '`docs/two.ts`, `none.ts`, `firstThing`, `thirdThing`, `status_of`, `once`\n\n```ts\nnoThing();\n```\n\n';
  await writeFile(path.join(root, 'a.md'), text + table);
  expect(inspectNames(root, 'a.md')).toEqual([
    'a.md: names none.ts, which does not exist',
    'a.md: names thirdThing, which is not in any source',
    'a.md: names secondThing, which is not in docs/one.ts',
  ]);
});

test('reports sections of the contract that comments and READMEs name and that are not there', async () => {
  await mkdir(path.join(root, 'docs/contract'));
  await writeFile(path.join(root, 'docs/contract/README.md'), '# The contract\n\n## Errors\n\n## Custom fields\n');
  await writeFile(path.join(root, 'docs/contract/alerts.md'), '# Alerts\n\n## Order\n');
  // Not in one piece, because the check reads this file, too.
  const by = 'contract:';
  await writeFile(path.join(root, 'README.md'), `This sends alerts (${by} Alerts, Storms).\n`);
  const comments = [
    `/** ${by} Errors, Words */`,
    `/**\n * A field (${by} Custom\n * fields).\n */`,
    `// The order (${by}\n// Alerts, Order).`,
    `export const one = (${by} Contract) => contract;`,
    `/** Much (${by} Limits). */`,
  ];
  await writeFile(path.join(root, 'one.ts'), comments.join('\n'));
  expect(inspectSections(root).sort()).toEqual([
    'README.md: names the section Storms, which is not in docs/contract',
    'one.ts: names the section Limits, which is not in docs/contract',
    'one.ts: names the section Words, which is not in docs/contract',
  ]);
});

test('reports rooms that the overview does not name, and names of rooms that are not there', async () => {
  for (const folder of ['gateway/src/edge', 'services/alpha/src/one', 'services/alpha/src/http', 'shared/beta/src/two'])
    await mkdir(path.join(root, folder), { recursive: true });
  const table = (owner: string, ...rooms: string[]) =>
    `| rooms of ${owner} | contain |\n| - | - |\n${rooms.map((room) => `| ${room} | \`four\` |\n`).join('')}\n`;
  const text = table('the alpha service', '`one`, `three`') + table('`shared/beta`', '`two`') + table('the gateway');
  await writeFile(path.join(root, 'docs/architecture.md'), text);
  expect(inspectRooms(root).sort()).toEqual([
    'docs/architecture.md: does not name the room edge of the gateway',
    'docs/architecture.md: the alpha service has no room three',
  ]);
});

test('reports tables that no document names with their schema', async () => {
  await mkdir(path.join(root, 'services/two-words/migrations'), { recursive: true });
  const migrations = [
    "await knex.schema.createTable('first', (table) => {});\nawait knex.schema.createTable('old', (table) => {});",
    'await knex.raw(`create table second (id bigint)`);',
    "await knex.schema.createTable('third', (table) => {});\nawait knex.schema.dropTable('old');",
  ];
  for (const [index, text] of migrations.entries())
    await writeFile(path.join(root, `services/two-words/migrations/${index}.ts`), text);
  await writeFile(path.join(root, 'docs/architecture.md'), '`third` is stored.\n');
  await writeFile(path.join(root, 'services/two-words/README.md'), 'It has `two_words.first`.\n');
  expect(inspectTables(root)).toEqual(
    ['second', 'third'].map(
      (table) => `docs/architecture.md, services/two-words/README.md: none names the table two_words.${table}`,
    ),
  );
});
