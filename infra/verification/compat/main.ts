/**
 * `npm run compat [-- --against REVISION]`: runs the tests of the last release on its own apps and on those of the present
 * sources, each in turn among the others, on a database with the present migrations. Exits with 1 if one fails. Needs git
 * with the tags, and PostgreSQL, RabbitMQ and Redis.
 */
import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { APP_NAMES } from '../../installation/apps.ts';
import { ROOT } from '../../installation/environment.ts';
import { runScript } from '../../installation/run-script.ts';
import { interruption } from '../interruption.ts';
import { OTHER_APPS, OTHER_TREE } from '../systems/other-tree.ts';
import { type Baseline, findBaseline, git } from './baseline.ts';

const TESTS = [
  'infra/verification/test/main-job.system.test.ts',
  'services/incident/test/transfer/transfer.system.test.ts',
  'services/webhook/test/event-feed.system.test.ts',
];

/** The apps that are of the present sources; the others are of the last release. */
const COMBINATIONS = [
  { name: 'all old', present: [] },
  ...APP_NAMES.map((app) => ({ name: `${app} new, others old`, present: [app] })),
  ...APP_NAMES.map((app) => ({ name: `${app} old, others new`, present: APP_NAMES.filter((each) => each !== app) })),
  { name: 'all new', present: APP_NAMES },
];

const run = async (command: string, args: readonly string[], cwd: string, signal: AbortSignal, env = {}) =>
  promisify(execFile)(command, args, { cwd, signal, env: { ...process.env, ...env }, maxBuffer: 64 * 1_048_576 });

async function runAll({ revision, commit }: Baseline, signal: AbortSignal): Promise<void> {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'tocsin-compat-'));
  const old = path.join(folder.path, 'tree');
  await git(ROOT, 'worktree', 'add', '--detach', old, commit);
  try {
    console.log(`old: ${revision}, ${commit.slice(0, 12)}; new: these sources`);
    await run('npm', ['ci', '--no-audit', '--no-fund'], old, signal);
    for (const { name, present } of COMBINATIONS) {
      const startedAt = performance.now();
      const env = { [OTHER_TREE]: ROOT, [OTHER_APPS]: present.join() };
      const failure = await run(
        'npm',
        ['test', '--', '--runInBand', '--runTestsByPath', ...TESTS],
        old,
        signal,
        env,
      ).then(
        () => undefined,
        (error: unknown) => {
          const { message, stdout = '', stderr = message } = error as Error & { stdout?: string; stderr?: string };
          return stdout + stderr;
        },
      );
      signal.throwIfAborted();
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      console.log(`${failure === undefined ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`);
      if (failure === undefined) continue;
      console.log(failure);
      process.exitCode = 1;
    }
  } finally {
    await git(ROOT, 'worktree', 'remove', '--force', old);
  }
}

await runScript(async () => {
  const { values } = parseArgs({ options: { against: { type: 'string' } } });
  const baseline = await findBaseline(values.against);
  if (baseline === undefined) console.log('no release yet: nothing to compare');
  else await runAll(baseline, interruption('ending after this combination'));
});
