import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describeStartFailure } from '@tocsin/runtime';
import { dataDirPath, openDataDir } from '../data-dir.ts';
import { environment } from '../environment.ts';
import { removePostgres } from './postgres.ts';

try {
  const folder = dataDirPath(environment());
  // Fails while an instance runs on it.
  const dataDir = await openDataDir(folder);
  await removePostgres(path.join(folder, 'postgres'));
  await dataDir.close();
  await rm(folder, { recursive: true, force: true });
  console.log(`${folder} is gone`);
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
