import { withClient } from '../../../databases.ts';
import type { MigrateConfig } from '../../../migrate/config.ts';
import { migrateAll } from '../../../migrate/migrate-all.ts';
import { seed } from '../../seed/seed.ts';
import type { Size } from '../../seed/size.ts';

/** Seeds the databases if they are empty. @returns the numbers of incidents and workspaces */
export async function ensureSeeded(config: MigrateConfig, size: Size, print: (line: string) => void): Promise<Size> {
  await migrateAll(config, () => undefined);
  const url = config.targets.find(({ schema }) => schema === 'incident')?.url ?? config.databaseUrl;
  const existing = await countIncidents(url);
  if (existing.incidents > 0) return existing;
  await seed(config, size, print);
  return countIncidents(url);
}

const countIncidents = async (url: string): Promise<Size> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ incidents: string; workspaces: string }>(
      'select sum(last) as incidents, count(*) as workspaces from incident.incident_counters',
    );
    return { incidents: Number(rows[0]?.incidents ?? 0), workspaces: Number(rows[0]?.workspaces ?? 0) };
  });
