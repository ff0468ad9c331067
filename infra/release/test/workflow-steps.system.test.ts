import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, copyFile, cp, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../../installation/environment.ts';
import { temporaryFolder } from '../../verification/systems/running.ts';
import { type Job, JOBS } from './workflows.ts';

/** Why a step is not run here, by its script or how it begins. */
const NOT_HERE = {
  'npm ci': 'needs the registry',
  'npm audit': 'needs the registry',
  'sudo .ci/run programs': 'installs packages as root',
  '.ci/run': 'runs this test',
};
const STEPS = JOBS.flatMap((job) => (job.steps ?? []).flatMap(({ run }) => (run === undefined ? [] : [{ job, run }])));
const reasonOf = (script: string) => Object.keys(NOT_HERE).find((start) => script.startsWith(start));
const ran = new Set<string>();

const folder = temporaryFolder();
const at = (...names: string[]) => path.join(folder.path, ...names);
const shell = (script: string, cwd: string) => {
  const { status, stderr } = spawnSync('bash', ['-ec', script], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

/** Lets a clone use the installed packages: those of the repository itself are the clone's. */
async function linkPackages(clone: string): Promise<void> {
  for (const modules of globSync('{.,gateway,infra,infra/cli,services/*,shared/*}/node_modules', { cwd: ROOT })) {
    await mkdir(path.join(clone, modules));
    for (const name of await readdir(path.join(ROOT, modules))) {
      const source = path.join(ROOT, modules, name);
      const target = path.join(clone, modules, name);
      const isOurs = name === '@tocsin' || (await lstat(source)).isSymbolicLink();
      if (isOurs) await cp(source, target, { recursive: true, verbatimSymlinks: true });
      else if (name === '.package-lock.json') await copyFile(source, target);
      else await symlink(source, target);
    }
  }
}

/** The sources as they are, as one commit. */
async function makeClone(name: string): Promise<void> {
  await mkdir(at(name));
  shell(
    `(cd '${ROOT}' && git ls-files -z --cached --others --exclude-standard | tar -c --null -T -) | tar -x
     git init --quiet && git add --all
     export GIT_COMMITTER_DATE='2026-11-20T12:00:00Z' GIT_AUTHOR_DATE='2026-11-20T12:00:00Z'
     git -c user.name=test -c user.email=test@example.com -c commit.gpgsign=false commit --quiet --message all`,
    at(name),
  );
  await linkPackages(at(name));
}

/**
 * Runs a step as GitHub does: its script in a file, by its shell, with GitHub's variables. The step begins with `start`.
 * Programs of `instead` are replaced by one that only writes its arguments down.
 */
async function runStep(start: string, options: { cwd: string; env?: object; instead?: string[] }) {
  const steps = STEPS.filter(({ run }) => run.startsWith(start));
  expect([start, steps.length]).toEqual([start, 1]);
  const { job, run } = steps[0] as { job: Job; run: string };
  ran.add(run);
  await mkdir(at('bin'), { recursive: true });
  for (const name of ['calls', 'output', 'env', 'summary']) await writeFile(at(name), '');
  for (const program of await readdir(at('bin'))) await writeFile(at('bin', program), '#!/bin/sh\nexit 97\n');
  for (const program of options.instead ?? []) {
    await writeFile(at('bin', program), `#!/bin/sh\necho "${program} $*" >> '${at('calls')}'\n`);
    await chmod(at('bin', program), 0o755);
  }
  await writeFile(at('step.sh'), run);
  const pipefail = job.defaults?.run?.shell === 'bash' ? ['--noprofile', '--norc', '-o', 'pipefail'] : [];
  const { status, stdout, stderr } = spawnSync('bash', [...pipefail, '-e', at('step.sh')], {
    cwd: options.cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...{ CI: 'true', GITHUB_REPOSITORY: 'example/tocsin', RUNNER_TEMP: folder.path },
      ...{ GITHUB_OUTPUT: at('output'), GITHUB_ENV: at('env'), GITHUB_STEP_SUMMARY: at('summary') },
      ...{ GITHUB_REF_TYPE: 'branch', GITHUB_REF_NAME: 'main' },
      ...options.env,
      PATH: `${(options.instead ?? []).length > 0 ? `${at('bin')}:` : ''}${process.env['PATH']}`,
    },
  });
  const written = async (name: string) => readFile(at(name), 'utf8');
  const files = { outputs: await written('output'), env: await written('env'), summary: await written('summary') };
  return { status, output: stdout + stderr, calls: await written('calls'), ...files };
}

describe('the steps of the workflows', () => {
  test('make packages, chart, bill of materials and manifest, the same bytes in two folders', async () => {
    await makeClone('first');
    shell(`umask 077; git clone --quiet first second`, folder.path);
    await linkPackages(at('second'));
    for (const clone of ['first', 'second']) {
      const { status, output } = await runStep('make release-dry-run', { cwd: at(clone) });
      expect([status, output]).toEqual([0, expect.stringContaining('tocsin-sdk-')]);
    }
    const files = await readdir(at('first/dist/release'));
    expect(files).toEqual(expect.arrayContaining(['SHA256SUMS', 'manifest.json', 'notes.md']));
    expect(files.filter((file) => file.endsWith('.tgz')).length).toBe(4);
    expect(await readdir(at('second/dist/release'))).toEqual(files);
    for (const file of files) {
      const [first, second] = await Promise.all(
        ['first', 'second'].map(async (clone) => readFile(at(clone, 'dist/release', file))),
      );
      expect([file, first?.equals(second ?? Buffer.of())]).toEqual([file, true]);
    }
    const manifest = JSON.parse(await readFile(at('first/dist/release/manifest.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ changed: false });
    // As the artifact that the job of the publication downloads.
    await cp(at('first/dist/release'), at('publish/release'), { recursive: true });
  });

  test('check the tag against the version', async () => {
    const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const cwd = at('first');
    const step = async (env: object) => runStep('version="$(node', { cwd, env });
    expect(await step({})).toMatchObject({ status: 0, outputs: `version=${version}\n` });
    const tag = { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: `v${version}` };
    expect(await step(tag)).toMatchObject({ status: 0, outputs: `version=${version}\n` });
    const other = await step({ ...tag, GITHUB_REF_NAME: 'v99.0.0' });
    expect(other).toMatchObject({ status: 1, outputs: '' });
    expect(other.output).toContain(`the tag is v99.0.0, and package.json has ${version}`);
  });

  test('take the time of the commit', async () => {
    const { status, env } = await runStep('echo "SOURCE_DATE_EPOCH', { cwd: at('first') });
    expect([status, env]).toEqual([0, `SOURCE_DATE_EPOCH=${Date.parse('2026-11-20T12:00:00Z') / 1_000}\n`]);
  });

  test('compare with the last release, which a tag is not itself', async () => {
    const step = async (env: object) =>
      runStep('if [ "$GITHUB_REF_TYPE" != tag ]', { cwd: at('second'), env, instead: ['npm'] });
    expect(await step({})).toMatchObject({ status: 0, calls: 'npm run --silent compat\n' });
    const tag = { GITHUB_REF_TYPE: 'tag' };
    const first = await step(tag);
    expect(first).toMatchObject({ status: 0, calls: '' });
    expect(first.output).toContain('the first release');
    shell(
      `git tag v0.0.9
       git -c user.name=test -c user.email=test@example.com commit --quiet --allow-empty --message next`,
      at('second'),
    );
    expect(await step(tag)).toMatchObject({ status: 0, calls: 'npm run --silent compat -- --against v0.0.9\n' });
  });

  test('let PostgreSQL have more connections', async () => {
    const { status, calls } = await runStep('docker exec "$POSTGRES" psql', {
      cwd: at('first'),
      env: { POSTGRES: 'c0ffee' },
      instead: ['docker'],
    });
    expect([status, calls]).toEqual([
      0,
      `docker exec c0ffee psql -U postgres -c alter system set max_connections = 300
docker restart c0ffee
docker exec c0ffee pg_isready -h 127.0.0.1
`,
    ]);
  });

  test('show the counts of the tests', async () => {
    const last = 'ci passed in 900 s; checks: 12 of 12 checks passed\n2000 passed, 0 failed, 3 skipped\n';
    await writeFile(at('ci.log'), `npm ci ended\n${last}`);
    expect(await runStep('tail', { cwd: at('first') })).toMatchObject({ status: 0, summary: last });
  });

  test('sign and publish exactly what was built', async () => {
    const cwd = at('publish');
    const [digest, embedded] = [`sha256:${'0'.repeat(64)}`, `sha256:${'1'.repeat(64)}`];
    const digests = { DIGEST: digest, EMBEDDED: embedded };
    const image = await runStep('cosign sign --yes', { cwd, env: digests, instead: ['cosign'] });
    expect(image.calls).toBe(`cosign sign --yes ghcr.io/example/tocsin@${digest} ghcr.io/example/tocsin@${embedded}\n`);
    const blob = await runStep('cosign sign-blob', { cwd, instead: ['cosign'] });
    expect(blob.calls).toContain(' release/SHA256SUMS\n');
    const check = await runStep('cd release && sha256sum', { cwd });
    expect([check.status, check.output.match(/: OK$/gm)?.length]).toEqual([0, 6]);

    const packages = await runStep('for package in', { cwd, instead: ['npm'] });
    expect(
      packages.calls.match(/^npm publish --access public --provenance \.\/release\/tocsin-.*\.tgz$/gm),
    ).toHaveLength(3);
    expect(packages.calls).not.toContain('chart');
    const tag = { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.1.0', VERSION: '0.1.0', ...digests };
    const notes = await runStep('# Links of the changelog', { cwd, env: tag, instead: ['gh'] });
    expect(notes.calls).toMatch(/^gh release create v0\.1\.0 --repo example\/tocsin --title Tocsin 0\.1\.0 /);
    expect(notes.calls).toContain('release/SHA256SUMS');
    expect(notes.calls).toMatch(/ release\/tocsin-chart-\S+\.tgz /);
    const text = await readFile(at('publish/release/notes.md'), 'utf8');
    for (const each of [digest, embedded]) expect(text).toContain(`ghcr.io/example/tocsin@${each}`);
    expect(text).toContain('](https://github.com/example/tocsin/blob/v0.1.0/docs/');
    expect(text).not.toMatch(/\]\((?!https:)/);
    await writeFile(at('publish/release/notes.md'), 'changed');
    expect((await runStep('cd release && sha256sum', { cwd })).status).toBe(1);
  });

  test('are all run here, except those with a reason', () => {
    const left = STEPS.map(({ run }) => run).filter((run) => !ran.has(run) && reasonOf(run) === undefined);
    expect(left).toEqual([]);
    for (const start of Object.keys(NOT_HERE))
      expect([start, STEPS.some(({ run }) => run.startsWith(start) && !ran.has(run))]).toEqual([start, true]);
  });
});
