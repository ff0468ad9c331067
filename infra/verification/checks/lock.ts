/**
 * Checks that package-lock.json has a digest of every package that comes from a registry; and that it lists no dependencies of Scalar: the gateway serves one file of it that needs none of
 * them (docs/adr/0020). npm adds them again when the version of Scalar changes; `--mend` removes them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../installation/environment.ts';

const LOCK = path.join(ROOT, 'package-lock.json');
const ENTRY = 'node_modules/@scalar/api-reference';

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as {
  packages: Record<string, { dependencies?: object; integrity?: string; link?: boolean }>;
};
const scalar = lock.packages[ENTRY];
if (scalar === undefined) throw new Error(`package-lock.json has no ${ENTRY}`);
const count = Object.keys(scalar.dependencies ?? {}).length;

const withoutDigest = Object.entries(lock.packages).filter(
  ([place, { integrity = '', link = false }]) =>
    place.includes('node_modules/') && !link && !/^sha512-[\w+/]{86}==$/.test(integrity),
);

if (withoutDigest.length > 0) {
  for (const [place] of withoutDigest) console.error(`package-lock.json has no digest of ${place}`);
  process.exitCode = 1;
} else if (count > 0 && process.argv.includes('--mend')) {
  delete scalar.dependencies;
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
  // Removes packages that nothing needs any more.
  const { status } = spawnSync('npm', ['install', '--package-lock-only'], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else if (count > 0) {
  console.error(
    `package-lock.json lists ${count} dependencies of Scalar: run node infra/verification/checks/lock.ts --mend`,
  );
  process.exitCode = 1;
} else console.log('package-lock.json has a digest of each package, and lists no dependency of Scalar');
