import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Environment, generateSecretKeys, parseSecretKeys } from '@tocsin/runtime';
import { ROOT } from './environment.ts';
import { ignoreMissing } from './missing-files.ts';
import { describeUnfinishedRestore, findUnfinishedRestore } from './unfinished-restore.ts';
import { OWNER_ONLY, writeAtomically } from './write-atomically.ts';

/** What commands need to know about a running instance; `env` holds secrets. */
export interface RunningInstance {
  env: Record<string, string>;
  pid: number;
  baseUrl: string;
}

/** The folder of an instance's persistent files; one instance at a time has it. */
export interface DataDir {
  readonly path: string;
  /** Returns the secret of that name, which `generate` creates the first time. Only the owner can read its file. */
  secret(name: string, generate: () => string | Promise<string>): Promise<string>;
  findSecret(name: string): Promise<string | undefined>;
  /** Writes a secret, also in the place of another one. */
  replaceSecret(name: string, secret: string): Promise<void>;
  /** Writes down how commands reach this instance, until it is closed. */
  register(instance: RunningInstance): Promise<void>;
  /** Unlocks the folder for other instances. */
  close(): Promise<void>;
}

/** Data that is encrypted with the instance's keys. */
export interface EncryptedData {
  /** Completes `the secrets in …`. */
  location: string;
  /** What to do if the keys are lost; completes `or …`. */
  alternative: string;
}

const RUNTIME_FILE = 'runtime.json';

/** The path of the data folder: `TOCSIN_DATA_DIR`, relative to the repository; `.tocsin` by default. */
export const dataDirPath = (env: Environment) =>
  path.resolve(
    ROOT,
    env['TOCSIN_DATA_DIR'] === undefined || env['TOCSIN_DATA_DIR'] === '' ? '.tocsin' : env['TOCSIN_DATA_DIR'],
  );

/** The instance that runs on a data folder, or the last one if it was killed. */
export async function findInstance(folder: string): Promise<RunningInstance | undefined> {
  const text = await readFile(path.join(folder, RUNTIME_FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as RunningInstance);
}

/** The instance that runs on a data folder now and holds its lock. */
export async function findRunningInstance(folder: string): Promise<RunningInstance | undefined> {
  return isLocked(folder) ? findInstance(folder) : undefined;
}

/**
 * @param options.unfinishedRestore whether the folder may hold a restore that was interrupted; default: it may not
 * @throws an error with a one-line message when the folder is unusable, another instance uses it, or a restore into it
 *   did not finish
 */
export async function openDataDir(folder: string, options: { unfinishedRestore?: 'allowed' } = {}): Promise<DataDir> {
  const displayPath = path.relative(ROOT, folder).startsWith('..') ? folder : path.relative(ROOT, folder);
  const lock = await lockFolder(folder, displayPath);
  if (options.unfinishedRestore !== 'allowed') {
    try {
      const restore = await findUnfinishedRestore(folder);
      if (restore !== undefined) throw new Error(describeUnfinishedRestore(displayPath, restore));
    } catch (error) {
      lock.close();
      throw error;
    }
  }
  const fileOf = (name: string) => path.join(folder, name);

  const findSecret = async (name: string) => {
    const text = await readFile(fileOf(name), 'utf8')
      .catch(ignoreMissing)
      .catch((error: unknown) => {
        throw unusableFolder(displayPath, error);
      });
    if (text?.trim() !== '') return text?.trim();
    throw new Error(`${path.join(displayPath, name)} is empty: restore it, or remove ${displayPath} and its data`);
  };

  return {
    path: folder,
    secret: async (name, generate) => {
      const existing = await findSecret(name);
      if (existing !== undefined) return existing;
      const generated = await generate();
      await writeAtomically(fileOf(name), `${generated}\n`);
      return generated;
    },
    findSecret,
    replaceSecret: async (name, secret) => writeAtomically(fileOf(name), `${secret}\n`),
    register: async (instance) => writeAtomically(fileOf(RUNTIME_FILE), `${JSON.stringify(instance, null, 2)}\n`),
    close: async () => {
      await rm(fileOf(RUNTIME_FILE), { force: true });
      lock.close();
    },
  };
}

/**
 * Returns the secret keys of an instance: those of its environment, or its own, which are generated once.
 * @param findEncryptedData looks for data that was encrypted with the instance's own keys; called only when the key
 *   file is
 *   missing
 * @throws an error with a one-line message when the file is damaged, or is missing although there is encrypted data
 */
export async function secretKeysFor(
  dataDir: DataDir,
  env: Environment,
  findEncryptedData: () => Promise<EncryptedData | undefined>,
): Promise<string> {
  const configured = env['TOCSIN_SECRET_KEYS'];
  if (configured !== undefined && configured !== '') return configured;
  const file = path.join(dataDir.path, 'secret-keys');
  const keys = await dataDir.secret('secret-keys', async () => {
    const encrypted = await findEncryptedData();
    if (encrypted === undefined) return generateSecretKeys();
    throw new Error(
      `${file} is missing, and the secrets in ${encrypted.location} cannot be read without it: ` +
        `restore the file, set TOCSIN_SECRET_KEYS to the keys that it held, or ${encrypted.alternative}`,
    );
  });
  try {
    parseSecretKeys(keys);
  } catch {
    throw new Error(`${file} is damaged: restore it, or remove the folder and its data`);
  }
  return keys;
}

/**
 * Creates the folder and locks it. Uses SQLite's lock, the only file lock that comes with Node: the system releases it
 * however the process ends, so it is never stale.
 */
async function lockFolder(folder: string, shown: string): Promise<DatabaseSync> {
  try {
    const created = await mkdir(folder, { recursive: true });
    // An existing folder keeps its mode; our files in it are closed to others anyway. As root, the database runs as
    // another user, who must be able to enter the folder.
    if (created !== undefined) await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
    const file = lockFile(folder);
    await writeFile(file, '', { flag: 'a', mode: OWNER_ONLY });
    const lock = new DatabaseSync(file);
    // A command that checks the lock holds it only for a moment.
    lock.exec('PRAGMA busy_timeout = 500; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw unusableFolder(shown, error);
    const other = await findInstance(folder).catch(() => undefined);
    const holder = other === undefined ? 'is just starting' : `runs at ${other.baseUrl}, process ${other.pid}`;
    throw new Error(
      `${shown} is in use: another instance ${holder}; stop it, or set TOCSIN_DATA_DIR to another folder`,
    );
  }
}

/** Whether an instance has the folder. A folder of another user that we cannot read counts as free. */
function isLocked(folder: string): boolean {
  if (!existsSync(lockFile(folder))) return false;
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(lockFile(folder), { readOnly: true });
    file.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY;
  } finally {
    file?.close();
  }
}

const lockFile = (folder: string) => path.join(folder, 'lock');

const SQLITE_BUSY = 5;

const unusableFolder = (displayPath: string, error: unknown) =>
  new Error(`the data folder ${displayPath} cannot be used: ${(error as Error).message}`, { cause: error });
