import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../../installation/environment.ts';
import { chartArchive } from '../chart-archive.ts';
import {
  checkVersion,
  releaseChangelog,
  releaseNotes,
  setImageTags,
  setImageVersion,
  setLockVersions,
  setPackageVersion,
} from '../texts.ts';
import { releasesIn } from '../../verification/compat/last-release.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const CHANGELOG = `# Changelog

## Unreleased

This will be 0.2.0.

### Added

- A thing.

## 0.1.0 - 2026-11-20

- The first.
`;

describe('the changelog', () => {
  test('gets a heading with version and date above what was unreleased', () => {
    expect(releaseChangelog(CHANGELOG, '0.2.0', '2026-12-01')).toBe(`# Changelog

## Unreleased

## 0.2.0 - 2026-12-01

### Added

- A thing.

## 0.1.0 - 2026-11-20

- The first.
`);
  });

  test('can be released when there is no earlier release', () => {
    expect(releaseChangelog('## Unreleased\n\n- A thing.\n', '0.1.0', '2026-12-01')).toBe(
      '## Unreleased\n\n## 0.1.0 - 2026-12-01\n\n- A thing.\n',
    );
  });

  test('is refused without anything unreleased', () => {
    const released = releaseChangelog(CHANGELOG, '0.2.0', '2026-12-01');
    expect(() => releaseChangelog(released, '0.3.0', '2026-12-02')).toThrow('nothing is unreleased');
    expect(() => releaseChangelog('# Changelog\n', '0.3.0', '2026-12-02')).toThrow('no heading');
  });
});

test('the notes are what the changelog has of the version, or of what is unreleased', () => {
  expect(releaseNotes(CHANGELOG, '0.1.0')).toBe('- The first.\n');
  expect(releaseNotes(CHANGELOG, '0.2.0')).toBe('### Added\n\n- A thing.\n');
  expect(() => releaseNotes('# Changelog\n', '0.2.0')).toThrow('nothing of 0.2.0');
});

test('the last release is the first heading with a version', () => {
  expect(releasesIn(CHANGELOG)).toEqual(['0.1.0']);
  expect(releasesIn(releaseChangelog(CHANGELOG, '0.2.0', '2026-12-01'))).toEqual(['0.2.0', '0.1.0']);
  expect(releasesIn('## Unreleased\n\n- A thing.\n')).toEqual([]);
});

test.each([
  ['0.1', 'must be three numbers'],
  ['v0.2.0', 'must be three numbers'],
  ['0.2.0-rc.1', 'must be three numbers'],
  ['0.02.0', 'must be three numbers'],
  ['0.1.0', 'has it already'],
  ['0.1.9', 'must not be less than 0.2.0'],
])('the version %s is refused', (version, message) => {
  expect(() => checkVersion(version, '0.2.0', CHANGELOG)).toThrow(message);
});

test.each(['0.2.0', '0.2.1', '0.10.0', '1.0.0'])('the version %s may follow', (version) => {
  expect(() => checkVersion(version, '0.2.0', CHANGELOG)).not.toThrow();
});

test('every file that names the version gets the new one, and nothing else changes', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const files: [string, (text: string, version: string) => string][] = [
    ['package.json', setPackageVersion],
    ['shared/runtime/package.json', setPackageVersion],
    ['infra/Dockerfile', setImageVersion],
    ['package-lock.json', setLockVersions],
    ['infra/kubernetes/kustomization.yaml', setImageTags],
    ['infra/kubernetes/admin/kustomization.yaml', setImageTags],
    ['infra/kubernetes/migrate/kustomization.yaml', setImageTags],
  ];
  for (const [file, change] of files) {
    const text = read(file);
    const changed = change(text, '9.8.7');
    expect(changed).toContain('9.8.7');
    expect(change(changed, version)).toBe(text);
  }
});

test('the archive of the Helm chart has its files, which all may read', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'tocsin-test-'));
  const archive = path.join(folder.path, 'chart.tgz');
  writeFileSync(archive, chartArchive());
  const listed = execFileSync('tar', ['-tvzf', archive, '--numeric-owner'], { encoding: 'utf8' }).trim().split('\n');
  expect(listed.filter((line) => !/^-rw-r--r-- +0/.test(line))).toEqual([]);
  execFileSync('tar', ['-xzf', archive, '-C', folder.path]);
  const chart = path.join(ROOT, 'infra/kubernetes/chart');
  const files = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((file) => path.extname(file) !== '');
  expect(listed.length).toBe(files.length + 1);
  for (const file of files) {
    const packed = readFileSync(path.join(folder.path, 'tocsin', file), 'utf8');
    expect(packed).toBe(readFileSync(path.join(chart, file), 'utf8'));
  }
});
