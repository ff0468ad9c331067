import { openDatabase } from '@tocsin/postgres';
import { newFeedEpoch } from '../../services/webhook/src/administration.ts';
import { schema } from '../../services/webhook/src/schema.ts';
import { withDatabase } from '../installation/databases.ts';
import type { MigrateConfig } from '../migrate/config.ts';

/**
 * Runs once after data were restored, before anything uses them, for what clients hold of the time after the backup: the
 * event feed begins a new epoch, so that cursors into events that the backup lacks expire.
 */
export async function announceRestore(config: MigrateConfig): Promise<void> {
  const url = config.targets.find((target) => target.schema === schema.name)?.url ?? config.databaseUrl;
  const database = openDatabase({ url, schema: schema.name, application: 'tocsin-restore', poolSize: 1 });
  await withDatabase(database, newFeedEpoch);
}
