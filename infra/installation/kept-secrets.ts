import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError, type Environment, findKnownSecretViolation } from '@tocsin/runtime';
import { ignoreMissing } from './missing-files.ts';
import { writeAtomically } from './write-atomically.ts';

/** Passwords are written into URLs and configuration files. */
const PASSWORD = /^[A-Za-z0-9_-]{1,128}$/;

export type KeptSecrets = ReturnType<typeof keptSecrets>;

/** The secrets that `env` sets; others are generated once and kept in a folder, a file for each. */
export function keptSecrets(folder: string, env: Environment) {
  /** @throws ConfigError in production about a value that everybody can read */
  const secret = async (name: string, generate: () => string): Promise<string> => {
    const configured = env[name] ?? '';
    const value = configured === '' ? await keptSecret(path.join(folder, name), generate) : configured;
    const violation = env['NODE_ENV'] === 'production' ? findKnownSecretViolation(name, value) : undefined;
    if (violation !== undefined) throw new ConfigError(`${name}: ${violation}`);
    return value;
  };
  /** @throws ConfigError about characters that need quotes somewhere */
  const password = async (name: string): Promise<string> => {
    const value = await secret(name, () => randomBytes(24).toString('base64url'));
    if (!PASSWORD.test(value)) {
      throw new ConfigError(`${name}: must be at most 128 letters, digits, hyphens and underscores`);
    }
    return value;
  };
  /** What nothing can generate: what `env` sets is kept, until it sets something else. */
  const remembered = async (name: string): Promise<string | undefined> => {
    const configured = env[name] ?? '';
    const file = path.join(folder, name);
    if (configured === '') return find(file);
    await mkdir(folder, { recursive: true });
    await writeAtomically(file, `${configured}\n`);
    return configured;
  };
  return { secret, password, remembered };
}

/** Returns the secret of an earlier run, or generates it. Two concurrent runs both return what the first one wrote. */
async function keptSecret(file: string, generate: () => string): Promise<string> {
  const existing = await find(file);
  if (existing !== undefined) return existing;
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await writeFile(file, `${generate()}\n`, { mode: 0o400, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const written = await find(file);
  if (written === undefined) throw new Error(`${file} has disappeared`);
  return written;
}

/** @throws Error when the file is empty: the value that it held is in use, and another one would not match */
async function find(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  if (text?.trim() === '') throw new Error(`${file} is empty: restore it, or remove it together with the data`);
  return text?.trim();
}
