import { readFileSync } from 'node:fs';

/** Of this package. */
export function versionOf(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
