import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from './operation-parameters.ts';

/** A workspace and how to reach it. */
export interface Context {
  url: string;
  token: string;
}

interface Stored {
  current: string | undefined;
  contexts: Record<string, Context>;
}

/** The environment of the command. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const stateFolder = (env: Environment) =>
  env['TOCSIN_CONFIG_DIR'] ?? path.join(env['XDG_CONFIG_HOME'] ?? path.join(homedir(), '.config'), 'tocsin');

/** Replaces a file of the folder, which only the user may read. A crash of the machine leaves the old file or the new one. */
export function writePrivately(folder: string, name: string, content: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, name);
  const temporary = `${file}.${process.pid}`;
  // An older temporary file would keep its mode.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(temporary, file);
}

/** Undefined if there is no such file. @throws UsageError if somebody has damaged it */
export function readPrivate(folder: string, name: string): unknown {
  const file = path.join(folder, name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`${file} is damaged: remove it`);
  }
}

const FILE = 'contexts.json';

export const readContexts = (env: Environment): Stored =>
  (readPrivate(stateFolder(env), FILE) as Stored | undefined) ?? { current: undefined, contexts: {} };

export const writeContexts = (env: Environment, stored: Stored) => writePrivately(stateFolder(env), FILE, stored);

/**
 * The workspace of a command: `TOCSIN_URL` and `TOCSIN_TOKEN`, or a stored context. A stored token is never sent to
 * another address than its own.
 * @throws UsageError
 */
export function findContext(env: Environment, name?: string): Context {
  const { TOCSIN_URL: url, TOCSIN_TOKEN: token } = env;
  if (url !== undefined && token !== undefined) return { url, token };
  if (url !== undefined) throw new UsageError('TOCSIN_URL is set, and TOCSIN_TOKEN is not');
  const { current, contexts } = readContexts(env);
  const chosen = name ?? current;
  const stored = chosen !== undefined && Object.hasOwn(contexts, chosen) ? contexts[chosen] : undefined;
  if (stored === undefined)
    throw new UsageError(
      chosen === undefined
        ? 'there is no workspace: run tocsin login, or set TOCSIN_URL and TOCSIN_TOKEN'
        : `there is no context ${chosen}; there are: ${Object.keys(contexts).join(', ') || 'none'}`,
    );
  return { ...stored, ...(token !== undefined && { token }) };
}

/** The address of that workspace alone. @throws UsageError */
export const findAddress = (env: Environment, name?: string): string => env['TOCSIN_URL'] ?? findContext(env, name).url;
