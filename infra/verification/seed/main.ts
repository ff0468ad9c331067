/**
 * `npm run seed -- [--incidents 1000000] [--workspaces 20]`: migrates the databases of DATABASE_URL, which must be set,
 * and fills them with workspaces of different sizes, for measurements and experiments. The same numbers give the same
 * data, except for the times, which end now.
 */
import { runScript } from '../../run-script.ts';
import { environment } from '../../environment.ts';
import { namedDatabases } from '../../migrate/named-databases.ts';
import { seed } from './seed.ts';
import { readSize } from './size.ts';

await runScript(async () => {
  const size = readSize(process.argv.slice(2));
  const config = namedDatabases(environment(), console.error);
  await seed(config, size, console.log);
});
