/**
 * `release` prepares releases, and tries them. `npm run release -- <version>` needs a clean work tree. It checks the
 * version, runs `npm run compat` against the last release, moves what is unreleased in CHANGELOG.md under the version,
 * sets the version of all packages, images and manifests, makes the present sources the baselines of the checks, and
 * generates. It commits nothing: docs/guides/releasing.md has what follows, and until then everything can be undone
 * with git. `dry-run.ts` builds everything that is published and that this machine can build, and `build-package.mjs`
 * what a package for other systems has. A step that fails ends the command, and leaves the work tree as it is then.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { testServers } from '@tocsin/testing';
import { runScript } from '../installation/run-script.ts';
import { git } from '../verification/compat/baseline.ts';
import { migratedCatalog, writeSchemaBaseline } from '../verification/compat/schema-baseline.ts';
import { ROOT } from '../installation/environment.ts';
import { withServers } from '../verification/servers/find-servers.ts';
import {
  checkVersion,
  releaseChangelog,
  setImageTags,
  setImageVersion,
  setLockVersions,
  setPackageVersion,
} from './texts.ts';

const read = async (file: string) => readFile(path.join(ROOT, file), 'utf8');

async function edit(file: string, change: (text: string) => string): Promise<void> {
  const text = await read(file);
  const changed = change(text);
  if (changed !== text) await writeFile(path.join(ROOT, file), changed);
}

/** Runs a script of the repository. @throws Error when it fails */
async function run(script: string, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [path.join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${script} failed`);
}

async function prepare(version: string): Promise<void> {
  const { version: present } = JSON.parse(await read('package.json')) as { version: string };
  const changelog = await read('CHANGELOG.md');
  checkVersion(version, present, changelog);
  const released = releaseChangelog(changelog, version, new Date().toISOString().slice(0, 10));
  if ((await git(ROOT, 'status', '--porcelain')) !== '')
    throw new Error('the work tree has changes: commit them first');

  // Against the last release, before CHANGELOG.md has the new one.
  await run('infra/verification/compat/main.ts');

  await writeFile(path.join(ROOT, 'CHANGELOG.md'), released);
  for (const file of globSync('{.,gateway,infra,infra/cli,services/*,shared/*}/package.json', { cwd: ROOT })) {
    await edit(file, (text) => setPackageVersion(text, version));
  }
  await edit('package-lock.json', (text) => setLockVersions(text, version));
  await edit('infra/Dockerfile', (text) => setImageVersion(text, version));
  for (const folder of ['', 'admin/', 'migrate/']) {
    await edit(`infra/kubernetes/${folder}kustomization.yaml`, (text) => setImageTags(text, version));
  }

  await run('infra/verification/checks/api-changes.ts', '--baseline');
  await moveSchemaBaseline(version);
  await run('infra/generate/main.ts');
  console.log(
    `${version} is prepared. Read the changes (git diff), complete docs/guides/upgrading.md, run make test, then commit ` +
      `and tag: docs/guides/releasing.md has the commands. git stash --include-untracked undoes everything.`,
  );
}

const moveSchemaBaseline = async (version: string): Promise<void> =>
  withServers(async () => {
    const { databaseUrl, runId } = testServers();
    const name = `tocsin_test_${runId}_release`;
    await writeSchemaBaseline(version, await migratedCatalog({ serverUrl: databaseUrl, name }));
  });

await runScript(async () => {
  const [version, ...others] = process.argv.slice(2);
  if (version === undefined || others.length > 0) throw new Error('name the version: npm run release -- 0.2.0');
  await prepare(version);
});
