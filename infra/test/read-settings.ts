import { type Environment, generateSecretKeys } from '@tocsin/runtime';
import { readRecorded } from '../apps.ts';

/** The configuration that a reader returns for an environment, and the names that it looked up. Adds missing keys. */
export function readSettings(
  read: (env: Environment) => unknown,
  env: Environment,
): { config: unknown; names: ReadonlySet<string> } {
  const hasKeyFile = (env['TOCSIN_SECRET_KEYS_FILE'] ?? '') !== '';
  return readRecorded(read, hasKeyFile ? env : { ...env, TOCSIN_SECRET_KEYS: generateSecretKeys() });
}

/** The addresses among an app's settings that point to its own machine: defaults that nothing has overridden. */
export function addressesOfOwnMachine(config: unknown): string[] {
  return JSON.stringify(config).match(/\w+:\/\/(?:[^/"]*@)?(?:localhost|127\.0\.0\.1|\[::1\])[^"]*/g) ?? [];
}

/**
 * Settings that no container needs: an app's own database URL takes precedence over the general one, receivers on
 * loopback addresses are refused in production, and the image itself says from which commit it is.
 */
const NOT_NEEDED: ReadonlySet<string> = new Set(['DATABASE_URL', 'WEBHOOK_TEST_RECEIVERS', 'TOCSIN_COMMIT']);

/** Whether a container must set this. A secret is set either directly or by a file. */
export const isNeeded = (name: string): boolean => !NOT_NEEDED.has(name) && !name.endsWith('_FILE');
