import { statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseSecretKeys } from '@tocsin/runtime';
import { dataDirPath, findInstance, openDataDir, secretKeysFor } from '../data-dir.ts';
import { ROOT } from '../environment.ts';

let folder: string;
beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), 'tocsin-data-')), 'data');
});
afterEach(async () => rm(path.dirname(folder), { recursive: true, force: true }));

test('is beside the repository’s files unless set, and relative to them', () => {
  expect(dataDirPath({})).toBe(path.join(ROOT, '.tocsin'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: '' })).toBe(path.join(ROOT, '.tocsin'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: 'elsewhere' })).toBe(path.join(ROOT, 'elsewhere'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: folder })).toBe(folder);
});

describe('a secret', () => {
  test('is made once, and is for its owner’s eyes only', async () => {
    const first = await openDataDir(folder);
    expect(await first.secret('word', () => 'one')).toBe('one');
    expect(await first.secret('word', () => 'two')).toBe('one');
    await first.close();
    const second = await openDataDir(folder);
    expect(await second.secret('word', () => 'three')).toBe('one');
    await second.close();
    expect(statSync(path.join(folder, 'word')).mode & 0o777).toBe(0o600);
  });

  test('that is there and empty is not made anew: something depends on the old one', async () => {
    const dataDir = await openDataDir(folder);
    await writeFile(path.join(folder, 'word'), '\n');
    await expect(dataDir.secret('word', () => 'new')).rejects.toThrow('is empty');
    await dataDir.close();
  });
});

describe('secret keys', () => {
  test('are those of the environment, if it has any', async () => {
    const dataDir = await openDataDir(folder);
    expect(await secretKeysFor(dataDir, { TOCSIN_SECRET_KEYS: 'given' })).toBe('given');
    expect(await readdir(folder)).not.toContain('secret-keys');
    await dataDir.close();
  });

  test('are made once otherwise', async () => {
    const dataDir = await openDataDir(folder);
    const keys = await secretKeysFor(dataDir, { TOCSIN_SECRET_KEYS: '' });
    expect(parseSecretKeys(keys).size).toBe(1);
    expect(await secretKeysFor(dataDir, {})).toBe(keys);
    await dataDir.close();
  });
});

describe('one instance at a time', () => {
  const instance = { env: { PORT: '8080' }, pid: 7, baseUrl: 'http://localhost:8080' };

  test('has the folder, and says where it runs', async () => {
    const dataDir = await openDataDir(folder);
    await expect(openDataDir(folder)).rejects.toThrow('another instance is just starting');
    await dataDir.announce(instance);
    await expect(openDataDir(folder)).rejects.toThrow('another instance runs at http://localhost:8080, process 7;');
    expect(await findInstance(folder)).toEqual(instance);
    expect(statSync(path.join(folder, 'runtime.json')).mode & 0o777).toBe(0o600);
    await dataDir.close();
    expect(await findInstance(folder)).toBeUndefined();
    await (await openDataDir(folder)).close();
  });

  test('is not hindered by what one left that was killed', async () => {
    const dataDir = await openDataDir(folder);
    await dataDir.announce(instance);
    const left = await readFile(path.join(folder, 'runtime.json'));
    await dataDir.close();
    await writeFile(path.join(folder, 'runtime.json'), left);
    await (await openDataDir(folder)).close();
  });
});

test('a folder that cannot be used is named, with the reason', async () => {
  await writeFile(folder, '');
  await expect(openDataDir(folder)).rejects.toThrow(`the data folder ${folder} cannot be used: EEXIST`);
});
