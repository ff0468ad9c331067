import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ROOT } from '../environment.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-installation-'));
  for (const file of ['package.json', 'infra/installation/install.mjs', 'infra/installation/installed.mjs']) {
    await cp(path.join(ROOT, file), path.join(folder, file));
  }
});
afterEach(async () => rm(folder, { recursive: true }));

const write = async (file: string, content: object) => {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), JSON.stringify(content));
};

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in the folder, with the Node of the tests. */
async function run(file: string, ...args: string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const options = { cwd: folder, env: { PATH, HOME: folder } };
  execFile(file, args, options, (error, stdout, stderr) =>
    resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
  );
  return promise;
}

describe('before the installation', () => {
  test.each(['start', 'services', 'admin', 'migrate', 'dead-letters', 'secret-keys'])(
    'npm run %s says what to do',
    async (script) => {
      const { scripts } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
      };
      // As npm runs it, without the second that npm itself takes.
      expect(await run('sh', '-c', scripts[script] ?? '')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'the dependencies are not installed: run make start, which installs them, or npm ci\n',
      });
    },
  );

  test('a version of Node that is too old is named', async () => {
    await write('node_modules/.package-lock.json', {});
    await write('package.json', { engines: { node: '>=999' } });
    const { code, stderr } = await run(
      process.execPath,
      '--import',
      './infra/installation/installed.mjs',
      'infra/missing.ts',
    );
    expect([code, stderr]).toEqual([
      1,
      `this needs Node 999 and was run with Node ${process.versions.node}: ` +
        'run it with npm run or make, which use the Node in node_modules\n',
    ]);
  });
});

describe('the installation', () => {
  const project = { name: 'x', version: '1.0.0' };
  const lock = { ...project, lockfileVersion: 3, requires: true, packages: { '': project } };

  test('prints how many packages there are, and the time that it took', async () => {
    await write('package.json', project);
    await write('package-lock.json', lock);
    const { code, stdout, stderr } = await run(process.execPath, 'infra/installation/install.mjs');
    expect([code, stderr]).toEqual([0, '']);
    // A slow machine also gets a line every five seconds.
    expect(stdout).toMatch(/^packages +installing up to 0, .*\n(packages +0 found, .*\n)*packages +\d+\.\d s\n$/);
  });

  test('for running leaves out what only tests need, which is added to it later', async () => {
    const workspaces = ['gateway', 'services/one', 'shared/tracing', 'infra'];
    for (const name of workspaces)
      await write(`${name}/package.json`, { name: name.replace('/', '-'), version: '1.0.0' });
    await write('jest/package.json', { name: 'jest', version: '1.0.0' });
    await write('package.json', { ...project, workspaces, devDependencies: { jest: 'file:./jest' } });
    await run('npm', 'install', '--package-lock-only', '--offline', '--no-audit');
    const installed = async () =>
      (await readdir(path.join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'));

    expect(await run(process.execPath, 'infra/installation/install.mjs', 'run')).toMatchObject({ code: 0, stderr: '' });
    expect(await installed()).toEqual(['gateway', 'infra', 'services-one', 'shared-tracing']);
    const kept = path.join(folder, 'node_modules/.cache');
    await mkdir(kept);
    for (const argument of [[], ['run'], []]) {
      const { code, stderr } = await run(process.execPath, 'infra/installation/install.mjs', ...argument);
      expect([code, stderr]).toEqual([0, '']);
      expect(await installed()).toEqual(['gateway', 'infra', 'jest', 'services-one', 'shared-tracing']);
    }
    expect((await stat(kept)).isDirectory()).toBe(true);
  });

  test('ends with the error of npm', async () => {
    // Not in the lock file, and in a folder, so that npm asks no registry.
    await write('other/package.json', { name: 'other', version: '1.0.0' });
    await write('package.json', { ...project, dependencies: { other: 'file:./other' } });
    await write('package-lock.json', lock);
    const { code, stderr } = await run(process.execPath, 'infra/installation/install.mjs');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^npm error code EUSAGE\n[^]*\nthe dependencies were not installed\n$/);
  });
});
