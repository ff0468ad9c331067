/**
 * Checks that the repository contains no addresses of a particular machine: package-lock.json names packages and
 * digests without download addresses, and no file mentions a package registry or a path of a user's disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../installation/environment.ts';

/** Files that git ignores, and git's own. */
const SKIPPED = /^(?:[.]git|node_modules|[.]tocsin|coverage|dist|generated|[.]env|[.]DS_Store|.*[.]log)$/;
const FORBIDDEN = {
  'a package registry':
    /\b(?:registry[.][\w.-]+[.](?:org|com|net|io)|npmjs[.](?:org|com)|yarnpkg[.]com|npm[.]pkg[.]github[.]com)\b/i,
  "a path of a user's machine": /(?<![\w.~$}-])\/(?:work(?:space)?|root|(?:home|Users)\/[\w.-]+)\//,
};

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.test(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else if (entry.isFile()) yield file;
  }
}

const problems: string[] = [];
let count = 0;
for (const file of filesIn(ROOT)) {
  count += 1;
  const text = readFileSync(file, 'utf8');
  // A binary file.
  if (text.includes('\0')) continue;
  text.split('\n').forEach((line, index) => {
    for (const [what, pattern] of Object.entries(FORBIDDEN)) {
      if (pattern.test(line)) problems.push(`${path.relative(ROOT, file)}:${index + 1} mentions ${what}`);
    }
  });
}

const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string }>;
};
for (const [name, { resolved }] of Object.entries(lock.packages)) {
  if (resolved !== undefined && /^[a-z+]+:/.test(resolved))
    problems.push(`package-lock.json: ${name} has a download address`);
}

for (const problem of problems) console.error(problem);
console.log(`${count} files, ${Object.keys(lock.packages).length} locked packages, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
