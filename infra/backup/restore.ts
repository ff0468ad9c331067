import path from 'node:path';
import { describeStartFailure } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { stepPrinter } from '../steps.ts';
import { requiredFile } from './required-file.ts';
import { restoreBackup } from './restore-backup.ts';

try {
  const env = environment();
  const file = path.resolve(requiredFile(env, 'make restore'));
  const step = stepPrinter(console.log);
  await restoreBackup({ env, file, replace: env['FORCE'] === '1', step, print: console.log });
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
