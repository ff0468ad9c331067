import pg from 'pg';
import type { MigrateConfig } from '../../migrate/config.ts';
import { migrateAll } from '../../migrate/migrate-all.ts';
import { seed } from '../../seed/seed.ts';
import type { Size } from '../../seed/size.ts';

/** Seeds the databases unless they are. @returns how many incidents and workspaces there are */
export async function prepare(config: MigrateConfig, size: Size, tell: (line: string) => void): Promise<Size> {
  await migrateAll(config, () => undefined);
  const url = config.targets.find(({ schema }) => schema === 'incident')?.url ?? config.databaseUrl;
  const found = await countIncidents(url);
  if (found.incidents > 0) return found;
  await seed(config, size, tell);
  return countIncidents(url);
}

async function countIncidents(url: string): Promise<Size> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ incidents: string; workspaces: string }>(
      'select sum(last) as incidents, count(*) as workspaces from incident.incident_counters',
    );
    return { incidents: Number(rows[0]?.incidents ?? 0), workspaces: Number(rows[0]?.workspaces ?? 0) };
  } finally {
    await client.end();
  }
}
