import type { Knex } from '@tocsin/postgres';
import { boundedCache, ENTRY_BYTES } from '@tocsin/runtime';
import { replicaStore } from './replica-store.ts';

/** Finds the owner teams of services. */
export interface OwnerTeams {
  /**
   * Returns the owner team of the active service with this slug.
   * @param version up to which the replica of the catalog is complete; `undefined` if unknown: then nothing cached is used
   */
  find(workspaceId: number, slug: string, version: number | undefined): Promise<number | null>;
}

interface CachedTeam {
  /** The replica's version when it was read, or an earlier one. */
  version: number;
  teamId: number | null;
}

const MAX_BYTES = 4 * 1_048_576;
/** Milliseconds. The catalog may fail to announce a version; its event changes the replica nevertheless. */
const TTL = 5_000;

/** Most incidents of a workspace are about a few services, so what was read for one create is true for many. */
export function ownerTeams(database: Knex): OwnerTeams {
  const cache = boundedCache<string, CachedTeam>({
    bytes: MAX_BYTES,
    ttl: TTL,
    sizeOf: (_team, key) => ENTRY_BYTES + 2 * key.length,
  });
  return {
    async find(workspaceId, slug, version) {
      const key = `${workspaceId}/${slug}`;
      const cached = cache.get(key);
      if (cached !== undefined && version !== undefined && cached.version >= version) return cached.teamId;
      const start = performance.now();
      const teamId = await replicaStore(database, workspaceId).findOwnerTeam(slug);
      if (version !== undefined) cache.set(key, { version, teamId }, { start });
      return teamId;
    },
  };
}
