import type { WorkspaceContext } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import { estimateHeapBytes, latestVersionCache } from '@tocsin/runtime';
import { DEFAULT_TIERS, type ServiceTier } from '../domain/tiers.ts';

/** Reads the configuration of the workspaces that requests come from. */
export interface Configurations {
  tiers(workspace: WorkspaceContext): Promise<readonly ServiceTier[]>;
}

const CACHE_BYTES = 16 * 1_048_576;

/**
 * Caches each workspace's tiers with the workspace's version. A change of the tiers is committed before it raises the
 * version, which every request carries, so tiers are at least as new as the request. A request with an older version than
 * the cached one reads the database and gets the present tiers.
 */
export function configurations(database: Knex): Configurations {
  const cache = latestVersionCache<readonly ServiceTier[]>({ bytes: CACHE_BYTES, sizeOf: estimateHeapBytes });
  return {
    async tiers(workspace) {
      const cached = cache.get(workspace.id, workspace.version);
      if (cached !== undefined) return cached;
      const tiers = await configurationStore(database, workspace.id).tiers();
      cache.set(workspace.id, workspace.version, tiers);
      return tiers;
    },
  };
}

/** The configuration of one workspace, over a pool or a transaction. A workspace without a row has the defaults. */
export function configurationStore(db: Knex, workspaceId: number) {
  return {
    async tiers(): Promise<readonly ServiceTier[]> {
      const row = await db('configurations')
        .where({ workspace_id: workspaceId })
        .first<{ service_tiers: ServiceTier[] } | undefined>('service_tiers');
      return row?.service_tiers ?? DEFAULT_TIERS;
    },

    async replaceTiers(tiers: readonly ServiceTier[]): Promise<void> {
      await db('configurations')
        .insert({ workspace_id: workspaceId, service_tiers: JSON.stringify(tiers) })
        .onConflict('workspace_id')
        .merge(['service_tiers']);
    },
  };
}
