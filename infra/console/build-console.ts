import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { environment, ROOT } from '../installation/environment.ts';

const FOLDER = path.join(ROOT, 'gateway/console');
const BUILT = path.join(FOLDER, 'dist');
/** The packages whose sources the console has, too. */
const PACKAGES = ['shared/schemas/src', 'shared/sdk/src'].map((folder) => path.join(ROOT, folder));
/** Of a build under way. It is not among the sources, which another process may be reading. */
const DRAFT = path.join(ROOT, `gateway/.build-${process.pid}`);
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
  const isBuilt = async () => (await readFile(path.join(BUILT, DIGEST), 'utf8').catch(() => undefined)) === digest;
  if (await isBuilt()) return false;
  // Beside the old files, because a gateway may be reading them, and another process may build at the same time.
  await promisify(execFile)(process.execPath, [VITE, 'build', FOLDER, '--outDir', DRAFT, '--emptyOutDir'], {
    cwd: ROOT,
    // Tests set another one, with which React is several times as large.
    env: { ...environment(), NODE_ENV: 'production' },
  });
  await writeFile(path.join(DRAFT, DIGEST), digest);
  const old = `${DRAFT}-old`;
  try {
    if (await isBuilt()) return true;
    await rename(BUILT, old).catch(() => undefined);
    // Fails if another process was faster.
    await rename(DRAFT, BUILT).catch(async (error: unknown) => {
      if (!(await isBuilt())) throw error;
    });
    return true;
  } finally {
    for (const folder of [DRAFT, old]) await rm(folder, { recursive: true, force: true });
  }
}

/** Of the sources by their paths, and of the versions of all packages. */
async function digestOfSources(): Promise<string> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'dist');
  for (const folder of [...folders.map(({ name }) => path.join(FOLDER, name)), ...PACKAGES])
    entries.push(...(await readdir(folder, { recursive: true, withFileTypes: true })));
  const files = entries
    // Generated types are no part of the built files, and may be written at the same time.
    .filter((entry) => entry.isFile() && path.basename(entry.parentPath) !== 'generated')
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const digest = createHash('sha256');
  for (const file of [...files, path.join(ROOT, 'package-lock.json')]) {
    digest.update(`${path.relative(ROOT, file)}\0`).update(await readFile(file));
  }
  return digest.digest('hex');
}
