import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { createProgram } from '../cli/src/program.ts';
import { ROOT } from '../environment.ts';

const EXAMPLES = path.join(ROOT, 'docs/guides/examples');
const stream = { write: () => true };
const session = {
  ...{ env: {}, stdin: Readable.from([]), stdout: stream, stderr: stream },
  signal: new AbortController().signal,
};

/** All texts of a document. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn);

test.each([
  ['gitops-github.yaml', 2],
  ['gitops-gitlab.yaml', 2],
  ['gitops-drift.yaml', 1],
])('the commands of %s are known', async (name, count) => {
  const document: unknown = parse(await readFile(path.join(EXAMPLES, name), 'utf8'));
  const commands = textsIn(document).flatMap((text) =>
    [...text.matchAll(/(?<=^\s*)tocsin ([^>|&\n]+)/gm)].map(([, words = '']) => words.trim().split(/\s+/)),
  );
  expect(commands).toHaveLength(count);
  for (const [verb = '', ...words] of commands) {
    const program = createProgram(session, [verb]);
    const command = program.commands.find((each) => each.name() === verb);
    expect([verb, command?.parseOptions(words).unknown]).toEqual([verb, []]);
  }
});
