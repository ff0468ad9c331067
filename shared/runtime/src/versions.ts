import type { Redis } from 'ioredis';
import { boundedCache } from './caches.ts';

/** The owner of the data that a version counts the changes of. */
export type VersionedOwner = 'catalog' | 'custom_field';

/**
 * The version of each owner's data in each workspace, shared with the other services. The owner raises it after its
 * commit and before it responds, so a replica that reads it afterwards knows that it is stale. Redis may reject that or
 * lose it in a failover. So the owner repeats it until it succeeds, and whenever a replica reads its changes; and a
 * replica reads the owner's changes before it rejects a request.
 */
export interface Versions {
  /** Never lowers a version. Rejects if the version may not have been raised. */
  raise(owner: VersionedOwner, workspaceId: number, version: number): Promise<void>;
  /** One version an owner, in order; `undefined` if it is unknown and the owner has to be asked. */
  read(owners: readonly VersionedOwner[], workspaceId: number): Promise<(number | undefined)[]>;
}

export function memoryVersions(): Versions {
  // The owner is asked for versions that were evicted.
  const versions = boundedCache<string, number>({ bytes: 16 * 1_048_576 });
  return {
    raise: async (owner, workspaceId, version) => {
      const key = keyOf(owner, workspaceId);
      versions.set(key, Math.max(version, versions.get(key) ?? 0));
    },
    read: async (owners, workspaceId) => owners.map((owner) => versions.get(keyOf(owner, workspaceId))),
  };
}

// Two commits may raise the version in either order; the higher one must win.
const RAISE = `
  local current = redis.call('get', KEYS[1])
  if not current or tonumber(ARGV[1]) > tonumber(current) then redis.call('set', KEYS[1], ARGV[1]) end
  return 1`;

export function redisVersions(redis: Redis): Versions {
  return {
    raise: async (owner, workspaceId, version) => {
      await redis.eval(RAISE, 1, keyOf(owner, workspaceId), version);
    },
    read: async (owners, workspaceId) => {
      const values = await redis.mget(owners.map((owner) => keyOf(owner, workspaceId)));
      return values.map((value) => (value === null ? undefined : Number(value)));
    },
  };
}

const keyOf = (owner: VersionedOwner, workspaceId: number) => `version:${owner}:${workspaceId}`;
