import type { WorkspaceContext } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import { estimateHeapBytes, latestVersionCache } from '@tocsin/runtime';
import { DEFAULT_TIERS, type ServiceTier, type StoredTiers } from '../domain/tiers.ts';

/** Reads the configuration of the workspaces that requests come from. */
export interface Configurations {
  tiers(workspace: WorkspaceContext): Promise<readonly ServiceTier[]>;
}

/** Reads the tiers of a workspace, the stored ones if the incident service does not say whether prepared ones apply. */
export type CurrentTiers = (workspaceId: number) => Promise<{ tiers: readonly ServiceTier[]; isSettled: boolean }>;

const CACHE_BYTES = 16 * 1_048_576;

/**
 * Caches each workspace's tiers with the workspace's version. A change of the tiers is committed before it raises the
 * version, which every request carries, so tiers are at least as new as the request. A request with an older version than
 * the cached one reads the database and gets the present tiers.
 */
export function configurations(readTiers: CurrentTiers): Configurations {
  const cache = latestVersionCache<readonly ServiceTier[]>({ bytes: CACHE_BYTES, sizeOf: estimateHeapBytes });
  return {
    async tiers(workspace) {
      const cached = cache.get(workspace.id, workspace.version);
      if (cached !== undefined) return cached;
      const { tiers, isSettled } = await readTiers(workspace.id);
      if (isSettled) cache.set(workspace.id, workspace.version, tiers);
      return tiers;
    },
  };
}

/** A list of tiers is prepared, and it is not known yet whether it was committed; nothing was written. */
export class UnsettledTiers extends Error {}

interface TiersRow {
  tiers_version: number;
  service_tiers: ServiceTier[];
  prepared_tiers: ServiceTier[] | null;
}

/** The configuration of one workspace, over a pool or a transaction. A workspace without a row has the defaults. */
export function configurationStore(db: Knex, workspaceId: number) {
  const read = async (): Promise<StoredTiers> => {
    const [row] = await query<TiersRow>(db, {
      name: 'read-tiers',
      text: 'select tiers_version, service_tiers, prepared_tiers from configurations where workspace_id = $1',
      values: [workspaceId],
    });
    return {
      version: row?.tiers_version ?? 0,
      tiers: row?.service_tiers ?? DEFAULT_TIERS,
      prepared: row?.prepared_tiers ?? null,
    };
  };
  return {
    read,

    /** @throws UnsettledTiers */
    async settled(): Promise<readonly ServiceTier[]> {
      const { tiers, prepared } = await read();
      if (prepared !== null) throw new UnsettledTiers();
      return tiers;
    },

    async write({ version, tiers, prepared }: StoredTiers): Promise<void> {
      await query(db, {
        name: 'write-tiers',
        text: `insert into configurations (workspace_id, tiers_version, service_tiers, prepared_tiers)
          values ($1, $2, $3, $4)
          on conflict (workspace_id) do update set tiers_version = excluded.tiers_version,
            service_tiers = excluded.service_tiers, prepared_tiers = excluded.prepared_tiers`,
        values: [workspaceId, version, JSON.stringify(tiers), prepared === null ? null : JSON.stringify(prepared)],
      });
    },
  };
}
