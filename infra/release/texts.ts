/** Changes of the files that name the version. Each function takes a file's content and returns the new one. */

import { releasesIn } from '../verification/compat/last-release.ts';

const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const UNRELEASED = '## Unreleased\n';

/** @throws Error unless the version may follow the present one; a version that was never released may be taken as it is */
export function checkVersion(version: string, present: string, changelog: string): void {
  const parts = SEMVER.exec(version);
  if (parts === null) throw new Error(`${version}: must be three numbers, such as 0.2.0`);
  if (releasesIn(changelog).includes(version)) throw new Error(`${version}: CHANGELOG.md has it already`);
  const numbers = (text: string) => text.split('.').map(Number);
  const [next, current] = [numbers(version), numbers(present)];
  const first = next.findIndex((number, index) => number !== current[index]);
  if (first !== -1 && (next[first] ?? 0) < (current[first] ?? 0)) {
    throw new Error(`${version}: must not be less than ${present}`);
  }
}

/**
 * Moves what is unreleased under a heading of the version and its date.
 * @throws Error when nothing is unreleased
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  const start = text.indexOf(UNRELEASED);
  if (start === -1) throw new Error('CHANGELOG.md: there is no heading "Unreleased"');
  const bodyStart = start + UNRELEASED.length;
  const nextHeading = text.indexOf('\n## ', bodyStart);
  const end = nextHeading === -1 ? text.length : nextHeading + 1;
  // The first sentence says which release it will be.
  const body = text
    .slice(bodyStart, end)
    .replace(/^\s*This will be [^\n]*\n/, '')
    .trim();
  if (body === '') throw new Error('CHANGELOG.md: nothing is unreleased');
  const released = `${UNRELEASED}\n## ${version} - ${date}\n\n${body}\n`;
  return `${text.slice(0, start)}${released}${end < text.length ? '\n' : ''}${text.slice(end)}`;
}

/**
 * What a changelog has of a version or, before it is released, of what is unreleased.
 * @throws Error when it has neither
 */
export function releaseNotes(text: string, version: string): string {
  const sections = text.split(/^## /m).slice(1);
  const section =
    sections.find((each) => each.startsWith(`${version} `)) ?? sections.find((each) => each.startsWith('Unreleased'));
  const body =
    section
      ?.slice(section.indexOf('\n'))
      .replace(/^\s*This will be [^\n]*\n/, '')
      .trim() ?? '';
  if (body === '') throw new Error(`CHANGELOG.md has nothing of ${version}`);
  return `${body}\n`;
}

/** In a package.json. */
export const setPackageVersion = (text: string, version: string): string =>
  replaceOnce(text, /^ {2}"version": "[^"]*"/m, `  "version": "${version}"`);

/** In the Dockerfile. */
export const setImageVersion = (text: string, version: string): string =>
  replaceOnce(text, /^ARG TOCSIN_VERSION=.*$/m, `ARG TOCSIN_VERSION=${version}`);

/** In a kustomization. */
export const setImageTags = (text: string, version: string): string => {
  const result = text.replaceAll(/(name: localhost\/tocsin, newTag: )'[^']*'/g, `$1'${version}'`);
  if (!result.includes(`newTag: '${version}'`)) throw new Error('a kustomization names no image of Tocsin');
  return result;
};

/** In package-lock.json: of the root and of the packages of the repository. */
export function setLockVersions(text: string, version: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, { version?: string }> };
  lock.version = version;
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/')) entry.version = version;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error(`nothing matches ${pattern.source}`);
  return text.replace(pattern, () => replacement);
}
