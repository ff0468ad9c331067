import { ConfigError, type Environment, generateSecretKeys } from '@tocsin/runtime';
import { deriveServiceKeys, KEY_HOLDERS } from '../installation/service-keys.ts';

const USAGE = `usage: npm run -s secret-keys -- <command>

  generate          Generate a root key, in the form of TOCSIN_SECRET_KEYS
  derive <process>  Derive the keys of a process from the root keys in TOCSIN_SECRET_KEYS, in the same form

processes: ${KEY_HOLDERS.join(', ')}`;

/** What a command of `secret-keys` prints. @throws Error with the usage; ConfigError about the root keys */
export function rootKeys([command, name, ...others]: readonly string[], env: Environment): string {
  const holder = KEY_HOLDERS.find((each) => each === name);
  if (command === 'generate' && name === undefined) return generateSecretKeys();
  if (command !== 'derive' || holder === undefined || others.length > 0) throw new Error(USAGE);
  const keys = env['TOCSIN_SECRET_KEYS'] ?? '';
  if (keys === '') throw new ConfigError('TOCSIN_SECRET_KEYS: is not set');
  return deriveServiceKeys(keys, holder);
}
