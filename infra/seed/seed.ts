import pg from 'pg';
import type { MigrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { secondsSince } from './seconds.ts';
import { seedCatalog } from './seed-catalog.ts';
import { seedCustomFields } from './seed-custom-fields.ts';
import { seedGateway } from './seed-gateway.ts';
import { seedIncidents } from './seed-incidents.ts';
import { seedReplicas } from './seed-replicas.ts';
import type { Size } from './size.ts';

type Filling = (client: pg.Client, size: Size, tell: (line: string) => void) => Promise<void>;

/** What fills the schema of each service. */
const FILLINGS: Readonly<Record<string, readonly Filling[]>> = {
  gateway: [seedGateway],
  catalog: [seedCatalog],
  custom_field: [seedCustomFields],
  incident: [seedReplicas, seedIncidents],
};

/**
 * Fills the services' databases, which must be empty.
 * @param tell gets a line for everything that was done
 */
export async function seed(config: MigrateConfig, size: Size, tell: (line: string) => void): Promise<void> {
  const started = performance.now();
  await migrateAll(config, () => undefined);
  for (const { schema, url } of config.targets) {
    for (const fill of FILLINGS[schema] ?? []) {
      await withClient(url, schema, async (client) => fill(client, size, tell));
    }
  }
  tell(`seeded ${size.incidents} incidents in ${size.workspaces} workspaces, ${secondsSince(started)}`);
  tell(
    'a token: npm run -s admin -- key create --workspace seed-1 --user user-1@seed-1.example --name seed --all-scopes',
  );
}

async function withClient(url: string, schema: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' });
  await client.connect();
  try {
    await client.query(`set search_path = ${pg.escapeIdentifier(schema)}`);
    // One seed, one data set; lost to a crash, it is made again.
    await client.query(`select setseed(0.42), set_config('synchronous_commit', 'off', false)`);
    await work(client);
  } finally {
    await client.end();
  }
}
