import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { buildInfo, createMetrics, observeBuild } from '../src/index.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../../..');
const COMMIT = 'c0ffee'.repeat(6);

const versionOf = (file: string) =>
  (JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as { version: string }).version;

/** What a process with this PATH finds out by itself. */
async function ownBuildInfo(PATH: string | undefined): Promise<{ commit?: string }> {
  const script = `import { buildInfo } from './shared/runtime/src/build-info.ts'; console.log(JSON.stringify(buildInfo('')))`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: ROOT,
    env: { PATH },
  });
  return JSON.parse(stdout) as { commit?: string };
}

test('all packages have the version of the product, and so have the images', () => {
  const version = versionOf('package.json');
  const files = globSync('{gateway,infra,services/*,shared/*}/package.json', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) expect([file, versionOf(file)]).toEqual([file, version]);
  expect(buildInfo(undefined).version).toBe(version);
  expect(readFileSync(path.join(ROOT, 'infra/Dockerfile'), 'utf8')).toContain(`\nARG TOCSIN_VERSION=${version}\n`);
});

test('the setting says the commit of an image', () => {
  expect(buildInfo(COMMIT)).toEqual({
    version: versionOf('package.json'),
    commit: COMMIT,
    node: process.versions.node,
  });
});

test('a checkout knows its commit; without git there is none, and that is no error', async () => {
  const head = await run('git', ['-C', ROOT, 'rev-parse', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  expect((await ownBuildInfo(process.env['PATH'])).commit).toBe(head);
  expect((await ownBuildInfo('/nowhere')).commit).toBeUndefined();
});

test('the metric names service, version, commit and Node', async () => {
  const metrics = createMetrics('test');
  observeBuild(metrics, 'test', { version: '1.2.3', commit: COMMIT, node: '24.0.0' });
  expect(await metrics.getSingleMetricAsString('tocsin_build_info')).toContain(
    `tocsin_build_info{service="test",version="1.2.3",commit="${COMMIT}",node="24.0.0",app="test"} 1`,
  );
});
