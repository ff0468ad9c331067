import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Environment, generateSecretKeys, parseSecretKeys } from '@tocsin/runtime';
import { ROOT } from './environment.ts';

/** What a running instance tells the commands that come to it; `env` holds secrets. */
export interface RunningInstance {
  env: Record<string, string>;
  pid: number;
  baseUrl: string;
}

/** The folder where an instance keeps what must survive it; held by one instance at a time. */
export interface DataDir {
  readonly path: string;
  /** The secret of that name; `generate` makes it the first time. Readable by its owner alone. */
  secret(name: string, generate: () => string | Promise<string>): Promise<string>;
  /** Tells other commands how to reach this instance, until it is closed. */
  announce(instance: RunningInstance): Promise<void>;
  /** Lets another instance have the folder. */
  close(): Promise<void>;
}

const PRIVATE = 0o600;
const RUNTIME = 'runtime.json';

/** Where the data are: `TOCSIN_DATA_DIR`, relative to the repository, `.tocsin` unless set. */
export const dataDirPath = (env: Environment) =>
  path.resolve(
    ROOT,
    env['TOCSIN_DATA_DIR'] === undefined || env['TOCSIN_DATA_DIR'] === '' ? '.tocsin' : env['TOCSIN_DATA_DIR'],
  );

/** The instance that runs on a data folder, or ran there last and did not get to say goodbye. */
export async function findInstance(folder: string): Promise<RunningInstance | undefined> {
  const text = await readFile(path.join(folder, RUNTIME), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as RunningInstance);
}

/** @throws one clear line when the folder cannot be used, or when another instance uses it */
export async function openDataDir(folder: string): Promise<DataDir> {
  const shown = path.relative(ROOT, folder).startsWith('..') ? folder : path.relative(ROOT, folder);
  const lock = await takeFolder(folder, shown);
  const fileOf = (name: string) => path.join(folder, name);

  const findSecret = async (name: string) => {
    try {
      const text = (await readFile(fileOf(name), 'utf8')).trim();
      if (text !== '') return text;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw unusable(shown, error);
    }
    throw new Error(`${path.join(shown, name)} is empty: restore it, or remove ${shown} and its data`);
  };

  return {
    path: folder,
    secret: async (name, generate) => {
      const known = await findSecret(name);
      if (known !== undefined) return known;
      const fresh = await generate();
      await writeWhole(fileOf(name), `${fresh}\n`);
      return fresh;
    },
    announce: async (instance) => writeWhole(fileOf(RUNTIME), `${JSON.stringify(instance, null, 2)}\n`),
    close: async () => {
      await rm(fileOf(RUNTIME), { force: true });
      lock.close();
    },
  };
}

/** The secret keys of an instance: those of its environment, else its own, made once. */
export async function secretKeysFor(dataDir: DataDir, env: Environment): Promise<string> {
  const given = env['TOCSIN_SECRET_KEYS'];
  if (given !== undefined && given !== '') return given;
  const keys = await dataDir.secret('secret-keys', generateSecretKeys);
  try {
    parseSecretKeys(keys);
  } catch {
    throw new Error(
      `${path.join(dataDir.path, 'secret-keys')} is damaged: restore it, or remove the folder and its data`,
    );
  }
  return keys;
}

/**
 * Makes the folder and locks it. The lock is SQLite's, the one file lock that comes with Node: the system lets go of it
 * however its process ends, so it is never stale.
 */
async function takeFolder(folder: string, shown: string): Promise<DatabaseSync> {
  try {
    await mkdir(folder, { recursive: true });
    // As root, the database runs as somebody else, who has to get through to its own folder in here.
    await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
    const file = path.join(folder, 'lock');
    await writeFile(file, '', { flag: 'a', mode: PRIVATE });
    const lock = new DatabaseSync(file);
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw unusable(shown, error);
    const other = await findInstance(folder).catch(() => undefined);
    const who = other === undefined ? 'is just starting' : `runs at ${other.baseUrl}, process ${other.pid}`;
    throw new Error(`${shown} is in use: another instance ${who}; stop it, or set TOCSIN_DATA_DIR to another folder`);
  }
}

const SQLITE_BUSY = 5;

const unusable = (shown: string, error: unknown) =>
  new Error(`the data folder ${shown} cannot be used: ${(error as Error).message}`, { cause: error });

/** A reader sees the old content or the new, never half. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, text, { mode: PRIVATE, flush: true });
  await rename(draft, file);
}
