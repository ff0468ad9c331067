import pg from 'pg';
import type { AppName } from '../../apps.ts';
import { withClient } from '../../databases.ts';
import type { MigrateConfig } from '../../migrate/config.ts';
import { migrateAll } from '../../migrate/migrate-all.ts';
import { seedCatalog } from './seed-catalog.ts';
import { seedCustomFields } from './seed-custom-fields.ts';
import { seedGateway } from './seed-gateway.ts';
import { secondsSince, seedIncidents } from './seed-incidents.ts';
import { seedReplicas } from './seed-replicas.ts';
import type { Size } from './size.ts';

type Seeder = (client: pg.Client, size: Size, print: (line: string) => void) => Promise<void>;

/** The functions that fill the schema of each app. */
const SEEDERS: Readonly<Partial<Record<AppName, readonly Seeder[]>>> = {
  gateway: [seedGateway],
  catalog: [seedCatalog],
  'custom-field': [seedCustomFields],
  incident: [seedReplicas, seedIncidents],
};

/**
 * Fills the services' databases, which must be empty.
 * @param print receives a line for each step
 */
export async function seed(config: MigrateConfig, size: Size, print: (line: string) => void): Promise<void> {
  const started = performance.now();
  await migrateAll(config, () => undefined);
  for (const { app, schema, url } of config.targets) {
    for (const fill of SEEDERS[app] ?? []) {
      const seedSchema = async (client: pg.Client) => {
        await client.query(`set search_path = ${pg.escapeIdentifier(schema)}`);
        // The same random seed gives the same data. After a crash the data is seeded again.
        await client.query(`select setseed(0.42), set_config('synchronous_commit', 'off', false)`);
        await fill(client, size, print);
      };
      await withClient(url, seedSchema, { options: '-c timezone=UTC' });
    }
  }
  print(`seeded ${size.incidents} incidents in ${size.workspaces} workspaces, ${secondsSince(started)}`);
  print(
    'to create a token: npm run -s admin -- key create --workspace seed-1 --user user-1@seed-1.example --name seed --all-scopes',
  );
}
