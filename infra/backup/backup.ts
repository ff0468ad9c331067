import path from 'node:path';
import { describeStartFailure } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { createBackup } from './create-backup.ts';
import { requiredFile } from './required-file.ts';

try {
  const env = environment();
  const file = path.resolve(requiredFile(env, 'make backup'));
  await createBackup({ env, file, replace: env['FORCE'] === '1', print: console.log });
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
