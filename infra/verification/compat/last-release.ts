import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../installation/environment.ts';

/** The versions that a changelog has, newest first. */
export const releasesIn = (changelog: string): string[] =>
  [...changelog.matchAll(/^## (\d\S*)/gm)].flatMap(([, version]) => version ?? []);

/** The version of the last release, as CHANGELOG.md has it; undefined before the first one. Its tag is `v<version>`. */
export const lastRelease = (): string | undefined =>
  releasesIn(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8')).at(0);

/**
 * Checks that a file which preparing a release writes is of the last one, or of none before the first one.
 * @throws Error when it is not
 */
export function checkRelease(file: string, release: string | undefined): void {
  if (release === lastRelease()) return;
  throw new Error(
    `${file} is of ${release ?? 'no release'}, but the last release in CHANGELOG.md is ${lastRelease() ?? 'none'}`,
  );
}
