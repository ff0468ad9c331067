import { describeStartFailure } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { migrateAll } from './migrate-all.ts';
import { namedDatabases } from './named-databases.ts';

try {
  await migrateAll(namedDatabases(environment(), console.error), console.log);
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
