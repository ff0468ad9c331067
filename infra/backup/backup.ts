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
