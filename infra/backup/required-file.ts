import type { Environment } from '@tocsin/runtime';

/** The value of `FILE`. @throws Error that shows the call */
export function requiredFile(env: Environment, call: string): string {
  const file = env['FILE'] ?? '';
  if (file === '') throw new Error(`FILE is not set: ${call} FILE=/a/safe/place/tocsin.backup`);
  return file;
}
