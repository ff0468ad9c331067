/**
 * `npm run check:licenses` checks the licenses of all packages of package-lock.json, and prints how many have which. What
 * an installation runs must have a license that asks for a notice at most; tools that only we run may ask for more, and
 * one library that installations load.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../installation/environment.ts';

const ALLOWED = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MIT-0', 'BlueOak-1.0.0']);
const ALLOWED_FOR_TOOLS = new Set([
  ...ALLOWED,
  ...['MPL-2.0', 'Python-2.0', 'PSF-2.0', 'CC-BY-4.0', 'Unlicense', '(MIT OR CC0-1.0)'],
]);
/** Loaded as it is, and replaceable by another build of it: libvips, by which `sharp` decodes pictures (ADR 126). */
const LIBRARY = { place: /^node_modules\/@img\/sharp-/, license: /\bLGPL-3\.0-or-later\b/ };
/** Tools whose manifest names its license in an old form, which package-lock.json leaves out. */
const OLD_FORM = new Map([
  ['node_modules/buildcheck', 'MIT'],
  ['node_modules/cpu-features', 'MIT'],
  ['node_modules/ssh2', 'MIT'],
]);

const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { license?: string; dev?: boolean; link?: boolean }>;
};
const counts = new Map<string, number>();
for (const [place, { license = OLD_FORM.get(place) ?? 'none', dev = false, link = false }] of Object.entries(
  packages,
)) {
  if (!place.includes('node_modules/') || link) continue;
  counts.set(license, (counts.get(license) ?? 0) + 1);
  if ((dev ? ALLOWED_FOR_TOOLS : ALLOWED).has(license)) continue;
  if (LIBRARY.place.test(place) && LIBRARY.license.test(license)) continue;
  console.error(
    `${place} has the license ${license}, which is not allowed ${dev ? 'for tools' : 'in an installation'}`,
  );
  process.exitCode = 1;
}
const sorted = [...counts].toSorted(([, first], [, second]) => second - first);
console.log(sorted.map(([license, count]) => `${count} ${license}`).join(', '));
