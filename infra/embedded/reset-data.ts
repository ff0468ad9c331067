import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { openDataDir } from '../installation/data-dir.ts';
import { removePostgres } from './postgres.ts';

/** The files that an instance writes into its data folder, besides the database. */
const OWN_FILES =
  /^(?:lock|(?:runtime\.json|restore-unfinished\.json|secret-keys|postgres-password|receiver-certificate|(?:services-)?demo-token)(?:\.new)?|(?:tocsin|postgres)\.log(?:\.1)?|postgres\.new(?:\.password)?)$/;

/**
 * Removes an instance's files from a data folder, and the folder if it contains nothing else: TOCSIN_DATA_DIR may name
 * a folder with other files. Data that a restore has kept aside stay.
 * @returns the names of the remaining files
 * @throws an error with a one-line message while an instance runs on the folder
 */
export async function resetData(folder: string): Promise<string[]> {
  const dataDir = await openDataDir(folder, { unfinishedRestore: 'allowed' });
  try {
    await removePostgres(path.join(folder, 'postgres'));
    const names = await readdir(folder);
    for (const name of names.filter((each) => OWN_FILES.test(each))) {
      await rm(path.join(folder, name), { recursive: true, force: true });
    }
  } finally {
    await dataDir.close();
  }
  const remaining = await readdir(folder);
  if (remaining.length === 0) await rmdir(folder);
  return remaining.toSorted();
}
