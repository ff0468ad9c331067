import { APPS } from '../installation/apps.ts';
import type { EncryptedData } from '../installation/data-dir.ts';
import { openAppDatabase, withDatabase } from '../installation/databases.ts';
import type { MigrateConfig } from '../migrate/config.ts';
import { describeDatabase } from '../migrate/describe-database.ts';

/** Finds out whether the apps' databases, which are up to date, hold data that an earlier run encrypted. */
export async function findEncryptedData({ targets }: MigrateConfig): Promise<EncryptedData | undefined> {
  for (const target of targets) {
    const { holdsSecrets } = APPS[target.app];
    if (holdsSecrets === undefined) continue;
    const database = openAppDatabase(target, { application: 'tocsin-services', poolSize: 1 });
    if (await withDatabase(database, holdsSecrets))
      return { location: describeDatabase(target.url), alternative: 'use another database' };
  }
  return undefined;
}
