import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadEnvFile } from 'node:process';
import { type Environment, withFileSettings } from '@tocsin/runtime/file-settings';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Returns the process's environment, completed by the file `.env` of the repository. Reads settings with `_FILE` from
 * their files.
 * @throws ConfigError
 */
export function environment(): Environment {
  const file = path.join(ROOT, '.env');
  if (existsSync(file)) loadEnvFile(file);
  return withFileSettings(process.env);
}
