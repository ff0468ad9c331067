/**
 * `backup` saves and restores the data of `make start` (ADR 34). `create-backup.ts` reads all tables as of one moment,
 * also while the instance runs, and writes them with counts, digests and a checksum (`format.ts`) into a partial file,
 * which gets its name when it is complete. `restore-backup.ts` checks the file to its end before anything changes. Then
 * it marks the folder, moves the data from before aside, creates the schemas with the migrations of the backup, loads
 * all rows in one transaction and compares their digests, runs the later migrations, and removes the mark. While the
 * mark is there, nothing but another restore or a reset uses the folder. A backup has the secret keys, unless the
 * environment sets others.
 */
import path from 'node:path';
import { runScript } from '../installation/run-script.ts';
import { environment } from '../installation/environment.ts';
import { createBackup } from './create-backup.ts';
import { requiredFile } from './required-file.ts';

await runScript(async () => {
  const env = environment();
  const file = path.resolve(requiredFile(env, 'make backup'));
  await createBackup({ env, file, replace: env['FORCE'] === '1', print: console.log });
});
