import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { ownProperty } from './own-properties.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that hold secrets. Each can be read from a file instead, which the setting `<name>_FILE` names. */
const SECRET =
  /^(?:TOCSIN_SECRET_KEYS|AMQP_URL|REDIS_URL|SMTP_URL|HTTPS_PROXY|(?:\w+_)?DATABASE_URL|DATABASE_SESSION_URL)$/;
/** What the name of a setting that names a file ends with. */
export const FILE = '_FILE';
/** More than any such setting needs. */
const MAX_FILE_BYTES = 65_536;

/** Replaces each `<name>_FILE` setting of a secret by `<name>` with the file's content. @throws ConfigError */
export function withFileSettings(env: Environment): Environment {
  const files = Object.entries(env).filter(([name, value]) => name.endsWith(FILE) && isSet(value));
  const secrets = files.map(([name]) => name.slice(0, -FILE.length)).filter((name) => SECRET.test(name));
  const values = secrets.flatMap((name): [string, string | undefined][] => [
    [name, readSetting(env, name)],
    [name + FILE, undefined],
  ]);
  return { ...env, ...Object.fromEntries(values) };
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

/** A setting's value, or the content of its file. @throws ConfigError if both are set, or the file cannot be read */
export function readSetting(env: Environment, name: string): string | undefined {
  const set = ownProperty(env, name);
  const value = isSet(set) ? set : undefined;
  const file = SECRET.test(name) ? ownProperty(env, name + FILE) : undefined;
  if (!isSet(file)) return value;
  if (value !== undefined) throw new ConfigError(`${name}${FILE}: must not be set together with ${name}`);
  const text = readBounded(file, name + FILE)
    .toString()
    .trim();
  if (text === '') throw new ConfigError(`${name}${FILE}: the file is empty`);
  return text;
}

/** Reads a file of at most `MAX_FILE_BYTES`. */
function readBounded(file: string, name: string): Buffer {
  const bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
  let length: number;
  try {
    const descriptor = openSync(file, 'r');
    try {
      length = readSync(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new ConfigError(`${name}: cannot read the file (${(error as NodeJS.ErrnoException).code})`);
  }
  if (length > MAX_FILE_BYTES) throw new ConfigError(`${name}: the file has more than ${MAX_FILE_BYTES} bytes`);
  return bytes.subarray(0, length);
}
