import { type Environment, generateSecretKeys } from '@tocsin/runtime';
import { readRecorded } from '../../installation/apps.ts';

/** The configuration that a reader returns for an environment, and the names that it looked up. Adds missing keys. */
export function readSettings(
  read: (env: Environment) => unknown,
  env: Environment,
): { config: unknown; names: ReadonlySet<string> } {
  const hasKeyFile = (env['TOCSIN_SECRET_KEYS_FILE'] ?? '') !== '';
  return readRecorded(read, hasKeyFile ? env : { ...env, TOCSIN_SECRET_KEYS: generateSecretKeys() });
}
