import path from 'node:path';
import { runScript } from '../installation/run-script.ts';
import { environment } from '../installation/environment.ts';
import { stepPrinter } from '../embedded/steps.ts';
import { requiredFile } from './required-file.ts';
import { restoreBackup } from './restore-backup.ts';

await runScript(async () => {
  const env = environment();
  const file = path.resolve(requiredFile(env, 'make restore'));
  const step = stepPrinter(console.log);
  await restoreBackup({ env, file, replace: env['FORCE'] === '1', step, print: console.log });
});
