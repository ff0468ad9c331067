import { runScript } from '../run-script.ts';
import { environment } from '../environment.ts';
import { migrateAll } from './migrate-all.ts';
import { namedDatabases } from './named-databases.ts';

await runScript(async () => {
  await migrateAll(namedDatabases(environment(), console.error), console.log);
});
