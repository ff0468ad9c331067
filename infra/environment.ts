import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadEnvFile } from 'node:process';
import type { Environment } from '@tocsin/runtime';

export const ROOT = path.resolve(import.meta.dirname, '..');

/** The process's environment and, under it, what the file `.env` in the repository sets. */
export function environment(): Environment {
  const file = path.join(ROOT, '.env');
  if (existsSync(file)) loadEnvFile(file);
  return process.env;
}
