/**
 * `migrate` brings the schemas of all apps up to date; several processes may do so at the same time. It creates
 * database, roles and schemas that are missing, one process after the other by an advisory lock of the server, and says
 * what must be there already if the role may not create it. Then it migrates each schema, all at the same time.
 * Migrations only add, so processes of the last release run meanwhile (ADR 37). What was interrupted is done by the
 * next run. For this command, a setting must name the databases; starts of an instance migrate their own.
 */
import { runScript } from '../installation/run-script.ts';
import { environment } from '../installation/environment.ts';
import { migrateAll } from './migrate-all.ts';
import { namedDatabases } from './named-databases.ts';

await runScript(async () => {
  await migrateAll(namedDatabases(environment(), console.error), console.log);
});
