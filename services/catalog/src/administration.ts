import type { CatalogChangePage, EventWorkspace, NewServiceTiers } from '@tocsin/contracts';
import type { ChangesFrom, Knex } from '@tocsin/postgres';
import { createLogger, memoryVersions, systemClock } from '@tocsin/runtime';
import { storedTiers } from './usecases/current-tiers.ts';
import { prepareTiers, readStoredTiers, settleTiers } from './usecases/prepare-tiers.ts';
import { readCatalogChangePage } from './usecases/read-changes.ts';
import { republish } from './usecases/republish.ts';

export { completeUserReplica, removeUnknownUsers } from './usecases/repair-user-replica.ts';

/**
 * The service tiers of a workspace, for a change of its configuration (ADR 55). The caller raises the workspace's version
 * afterwards.
 */
export const serviceTiers = (database: Knex, workspaceId: number) => ({
  read: async () => readStoredTiers(database, workspaceId),
  prepare: async (list: Omit<NewServiceTiers, 'workspace_id'>) =>
    prepareTiers(database, { ...list, workspace_id: workspaceId }),
  /** Makes the prepared tiers apply, after the incident service's part was committed. */
  async settle(committed: number): Promise<void> {
    await settleTiers(database, { workspaceId, version: committed, committed });
  },
});

/** See `republish`. The running services announce the new version within seconds. */
export const republishCatalog = async (
  database: Knex,
  options: { workspace: EventWorkspace; seen: number },
): Promise<number> => database.transaction(async (trx) => republish(trx, { ...options, now: systemClock.now() }));

/** Reads a page of changes for a replica, as the internal API returns it. */
export const readCatalogChanges = async (database: Knex, from: ChangesFrom): Promise<CatalogChangePage> =>
  readCatalogChangePage(
    {
      database,
      owner: 'catalog',
      versions: memoryVersions(),
      log: createLogger({ app: 'admin', level: 'silent' }),
      currentTiers: storedTiers(database),
    },
    from,
  );
