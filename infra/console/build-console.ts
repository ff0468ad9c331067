import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { environment, ROOT } from '../environment.ts';

const FOLDER = path.join(ROOT, 'gateway/console');
const BUILT = path.join(FOLDER, 'dist');
const DIGEST = '.digest';
const VITE = path.join(ROOT, 'node_modules/vite/bin/vite.js');

/**
 * Builds the console, unless it was built from the same sources and packages. Does nothing where Vite is not installed:
 * an image has the built files.
 * @returns whether it was built
 */
export async function buildConsole(): Promise<boolean> {
  if (!existsSync(VITE)) return false;
  const digest = await digestOfSources();
  const built = await readFile(path.join(BUILT, DIGEST), 'utf8').catch(() => undefined);
  if (built === digest) return false;
  // Beside the old files, because a gateway may be reading them, and another process may build at the same time.
  const draft = path.join(FOLDER, `.build-${process.pid}`);
  await promisify(execFile)(process.execPath, [VITE, 'build', FOLDER, '--outDir', draft, '--emptyOutDir'], {
    cwd: ROOT,
    // Tests set another one, with which React is several times as large.
    env: { ...environment(), NODE_ENV: 'production' },
  });
  await writeFile(path.join(draft, DIGEST), digest);
  await rm(BUILT, { recursive: true, force: true });
  await rename(draft, BUILT).catch(async () => cp(draft, BUILT, { recursive: true }));
  await rm(draft, { recursive: true, force: true });
  return true;
}

/** Of the sources by their paths, and of the versions of all packages. */
async function digestOfSources(): Promise<string> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/^(?:dist|\.build-\d+)[/\\]/.test(path.relative(FOLDER, file)))
    .sort();
  const digest = createHash('sha256');
  for (const file of [...files, path.join(ROOT, 'package-lock.json')]) {
    digest.update(`${path.relative(ROOT, file)}\0`).update(await readFile(file));
  }
  return digest.digest('hex');
}
