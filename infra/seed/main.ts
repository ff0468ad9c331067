/**
 * `npm run seed -- [--incidents 1000000] [--workspaces 20]`: brings the databases of DATABASE_URL up to date and fills them
 * with workspaces of every size, for measurements and for trying things out. The same numbers make the same data, but for the times, which end now.
 */
import { describeStartFailure } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { migrateConfig } from '../migrate/config.ts';
import { seed } from './seed.ts';
import { readSize } from './size.ts';

try {
  await seed(migrateConfig(environment()), readSize(process.argv.slice(2)), console.log);
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
