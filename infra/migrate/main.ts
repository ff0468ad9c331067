import { runScript } from '../installation/run-script.ts';
import { environment } from '../installation/environment.ts';
import { migrateAll } from './migrate-all.ts';
import { namedDatabases } from './named-databases.ts';

await runScript(async () => {
  await migrateAll(namedDatabases(environment(), console.error), console.log);
});
