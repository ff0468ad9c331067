import { describeStartFailure } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { migrateConfig } from './config.ts';
import { migrateAll } from './migrate-all.ts';

try {
  await migrateAll(migrateConfig(environment()), console.log);
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
