import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { createProgram } from '../../src/program.ts';
import { ROOT } from '../../../installation/environment.ts';

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

type Job = Record<string, unknown> & { steps: Record<string, unknown>[] };
const read = async (name: string) => parse(await readFile(path.join(EXAMPLES, name), 'utf8'));

test('the jobs of GitHub have the token that writes only for the protected branch, and install nothing that a branch brings', async () => {
  const { on: events, env, permissions, jobs } = await read('gitops-github.yaml');
  expect(events.push.branches).toEqual(['main']);
  expect(events).not.toHaveProperty('pull_request_target');
  expect(permissions).toEqual({ contents: 'read' });
  expect(textsIn(env).join(' ')).not.toContain('secrets.');
  for (const job of Object.values(jobs as Record<string, Job>)) {
    const isOfMain = job['if'] === "github.event_name == 'push'";
    const secrets = textsIn(job).flatMap((text) => [...text.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name));
    // A secret of an environment: those of a repository are read by any branch, whatever the file of `main` says.
    expect([secrets, job['environment']]).toEqual(
      isOfMain ? [['TOCSIN_TOKEN'], 'tocsin'] : [['TOCSIN_READ_TOKEN'], undefined],
    );
    const checkouts = job.steps.flatMap(({ uses, with: given = {} }) =>
      String(uses).startsWith('actions/checkout@') ? [given as Record<string, unknown>] : [],
    );
    const installs = job.steps.filter(({ run }) => /\bnpm\b|\bnpx\b/.test(String(run)));
    expect(installs).toHaveLength(1);
    for (const { run, ['working-directory']: folder = '.' } of installs) {
      const [, archive = ''] = /^npm install --global \.\/(\S+-\d+\.\d+\.\d+\.tgz)$/.exec(String(run)) ?? [];
      expect([run, folder]).toEqual([expect.stringContaining(archive || 'a fixed version'), '.']);
      if (isOfMain) continue;
      const { ref } = checkouts.find(({ path: place }) => archive.startsWith(`${String(place)}/`)) ?? {};
      expect(ref).toBe('${{ github.event.pull_request.base.sha }}');
      // In the folder where it runs, a branch has no file that npm would read.
      expect(checkouts.every(({ path: place }) => typeof place === 'string')).toBe(true);
    }
  }
});

test('the jobs of GitLab have the token that writes only for the default branch, and install nothing', async () => {
  const { stages: _, default: common, ...jobs } = await read('gitops-gitlab.yaml');
  expect(common).toEqual({ image: expect.stringMatching(/:\d+\.\d+\.\d+$/) });
  for (const job of Object.values(jobs as Record<string, { rules: { if: string }[]; variables: object }>)) {
    const isOfMain = job.rules.every((rule) => rule.if === '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH');
    expect(job.variables).toEqual({ TOCSIN_TOKEN: isOfMain ? '$TOCSIN_WRITE_TOKEN' : '$TOCSIN_READ_TOKEN' });
    expect(textsIn(job).filter((text) => /\b(?:npm|npx|curl|wget|git)\b/.test(text))).toEqual([]);
  }
});
