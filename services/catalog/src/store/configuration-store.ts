import type { WorkspaceContext } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { LRUCache } from 'lru-cache';
import { DEFAULT_TIERS, type ServiceTier } from '../domain/tiers.ts';

/** Where a workspace's tiers are read. */
export interface Configurations {
  tiers(workspace: WorkspaceContext): Promise<readonly ServiceTier[]>;
}

/**
 * Keeps tiers by the version of their workspace: whoever changes them raises that version afterwards, and every request
 * carries it, so that nothing stale is ever used.
 */
export function configurations(database: Knex): Configurations {
  const known = new LRUCache<string, readonly ServiceTier[]>({ max: 1_000 });
  return {
    async tiers(workspace) {
      const key = `${workspace.id}@${workspace.version}`;
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const tiers = await configurationStore(database, workspace.id).tiers();
      known.set(key, tiers);
      return tiers;
    },
  };
}

/** A workspace without a row has the defaults. */
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
