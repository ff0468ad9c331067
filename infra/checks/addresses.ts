/**
 * Keeps the addresses of one machine out of the repository: package-lock.json names packages and their digests, never
 * where they were fetched, and no file mentions a package registry or a path of somebody's own disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What git ignores, and git itself. */
const SKIPPED = /^(?:[.]git|node_modules|[.]tocsin|coverage|[.]env|[.]DS_Store|.*[.]log)$/;
const FORBIDDEN = {
  'a package registry':
    /\b(?:registry[.][\w.-]+[.](?:org|com|net|io)|npmjs[.](?:org|com)|yarnpkg[.]com|npm[.]pkg[.]github[.]com)\b/i,
  "a path of somebody's machine": /(?<![\w.~$}-])\/(?:work(?:space)?|root|(?:home|Users)\/[\w.-]+)\//,
};

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.test(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else if (entry.isFile()) yield file;
  }
}

const faults: string[] = [];
let count = 0;
for (const file of filesIn(ROOT)) {
  count += 1;
  const text = readFileSync(file, 'utf8');
  // Bytes, not text.
  if (text.includes('\0')) continue;
  text.split('\n').forEach((line, index) => {
    for (const [what, pattern] of Object.entries(FORBIDDEN)) {
      if (pattern.test(line)) faults.push(`${path.relative(ROOT, file)}:${index + 1} mentions ${what}`);
    }
  });
}

const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string }>;
};
for (const [name, { resolved }] of Object.entries(lock.packages)) {
  if (resolved !== undefined && /^[a-z+]+:/.test(resolved)) faults.push(`package-lock.json: ${name} has an address`);
}

for (const fault of faults) console.error(fault);
console.log(`${count} files, ${Object.keys(lock.packages).length} locked packages, ${faults.length} faults`);
if (faults.length > 0) process.exitCode = 1;
