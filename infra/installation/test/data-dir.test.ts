import { statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseSecretKeys } from '@tocsin/runtime';
import { dataDirPath, findInstance, findRunningInstance, openDataDir, secretKeysFor } from '../data-dir.ts';
import { openLogFile } from '../../embedded/logs.ts';
import { ROOT } from '../environment.ts';

let folder: string;
beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), 'tocsin-data-')), 'data');
});
afterEach(async () => rm(path.dirname(folder), { recursive: true, force: true }));

test('is .tocsin by default, and relative to the repository', () => {
  expect(dataDirPath({})).toBe(path.join(ROOT, '.tocsin'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: '' })).toBe(path.join(ROOT, '.tocsin'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: 'elsewhere' })).toBe(path.join(ROOT, 'elsewhere'));
  expect(dataDirPath({ TOCSIN_DATA_DIR: folder })).toBe(folder);
});

test('the log is bounded while it grows, and no line is lost between its two files', async () => {
  const dataDir = await openDataDir(folder);
  const read = async (name: string) => readFile(path.join(folder, name), 'utf8');
  const maxBytes = 4_096;
  const open = () => openLogFile(folder, { level: 'info', maxBytes });
  const first = open();
  first.loggerOf('gateway').info('of an earlier start');
  await first.close();
  const log = open();
  for (let n = 1; n <= 200; n += 1) log.loggerOf(n % 2 === 0 ? 'gateway' : 'incident').info({ n }, 'a line');
  await log.close();
  expect((await readdir(folder)).filter((name) => name.startsWith('tocsin.log')).toSorted()).toEqual([
    'tocsin.log',
    'tocsin.log.1',
  ]);
  const [older, newer] = [await read('tocsin.log.1'), await read('tocsin.log')];
  for (const text of [older, newer]) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
  const numbers = (older + newer)
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n);
  expect(numbers).toEqual(Array.from(numbers, (_, index) => 200 - numbers.length + 1 + index));
  expect(numbers.length).toBeGreaterThan(10);
  expect(statSync(path.join(folder, 'tocsin.log')).mode & 0o777).toBe(0o600);
  await dataDir.close();
});

describe('the mode of the folder', () => {
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

  test('is private to its owner when we create it', async () => {
    await (await openDataDir(folder)).close();
    // As root, the database runs as another user, who must be able to enter the folder.
    expect(modeOf(folder)).toBe(process.getuid?.() === 0 ? '711' : '700');
  });

  test('does not change when the folder existed before', async () => {
    await mkdir(folder);
    for (const mode of ['750', '755']) {
      await chmod(folder, Number.parseInt(mode, 8));
      await (await openDataDir(folder)).close();
      expect(modeOf(folder)).toBe(mode);
    }
    expect(statSync(path.join(folder, 'lock')).mode & 0o777).toBe(0o600);
  });
});

describe('a secret', () => {
  test('is generated once, in a private file', async () => {
    const first = await openDataDir(folder);
    expect(await first.secret('word', () => 'one')).toBe('one');
    expect(await first.secret('word', () => 'two')).toBe('one');
    await first.close();
    const second = await openDataDir(folder);
    expect(await second.secret('word', () => 'three')).toBe('one');
    await second.close();
    expect(statSync(path.join(folder, 'word')).mode & 0o777).toBe(0o600);
  });

  test('with an empty file is not generated again: data depends on the old one', async () => {
    const dataDir = await openDataDir(folder);
    await writeFile(path.join(folder, 'word'), '\n');
    await expect(dataDir.secret('word', () => 'new')).rejects.toThrow('is empty');
    await dataDir.close();
  });
});

describe('secret keys', () => {
  const encrypted = { location: 'the database in x', alternative: 'drop x' };

  test('are those of the environment if it has any', async () => {
    const dataDir = await openDataDir(folder);
    expect(await secretKeysFor(dataDir, { TOCSIN_SECRET_KEYS: 'given' }, async () => undefined)).toBe('given');
    expect(await readdir(folder)).not.toContain('secret-keys');
    await dataDir.close();
  });

  test('are generated once otherwise', async () => {
    const dataDir = await openDataDir(folder);
    const keys = await secretKeysFor(dataDir, { TOCSIN_SECRET_KEYS: '' }, async () => undefined);
    expect(parseSecretKeys(keys).size).toBe(1);
    expect(await secretKeysFor(dataDir, {}, async () => encrypted)).toBe(keys);
    await dataDir.close();
  });

  test('are not generated when there is data encrypted with lost keys', async () => {
    const dataDir = await openDataDir(folder);
    await expect(secretKeysFor(dataDir, {}, async () => encrypted)).rejects.toThrow(
      `${path.join(folder, 'secret-keys')} is missing, and the secrets in the database in x cannot be read without it: ` +
        'restore the file, set TOCSIN_SECRET_KEYS to the keys that it held, or drop x',
    );
    expect(await readdir(folder)).not.toContain('secret-keys');
    expect(await secretKeysFor(dataDir, { TOCSIN_SECRET_KEYS: 'given' }, async () => encrypted)).toBe('given');
    await dataDir.close();
  });
});

describe('one instance at a time', () => {
  const instance = { env: { PORT: '8080' }, pid: 7, baseUrl: 'http://localhost:8080' };

  test('has the folder, and registers its address', async () => {
    const dataDir = await openDataDir(folder);
    await expect(openDataDir(folder)).rejects.toThrow('another instance is just starting');
    await dataDir.register(instance);
    await expect(openDataDir(folder)).rejects.toThrow('another instance runs at http://localhost:8080, process 7;');
    expect(await findInstance(folder)).toEqual(instance);
    expect(await findRunningInstance(folder)).toEqual(instance);
    expect(statSync(path.join(folder, 'runtime.json')).mode & 0o777).toBe(0o600);
    await dataDir.close();
    expect(await findInstance(folder)).toBeUndefined();
    await (await openDataDir(folder)).close();
  });

  test('can start after a killed instance', async () => {
    const dataDir = await openDataDir(folder);
    await dataDir.register(instance);
    const left = await readFile(path.join(folder, 'runtime.json'));
    await dataDir.close();
    await writeFile(path.join(folder, 'runtime.json'), left);
    expect(await findRunningInstance(folder)).toBeUndefined();
    await (await openDataDir(folder)).close();
  });
});

test('an error names an unusable folder and the reason', async () => {
  await writeFile(folder, '');
  await expect(openDataDir(folder)).rejects.toThrow(`the data folder ${folder} cannot be used: EEXIST`);
});
