import type { Redis } from 'ioredis';

/** Whose data a version counts. */
export type VersionedOwner = 'catalog' | 'custom_field';

/**
 * The version of each owner's data in each workspace, as far as it is known outside the owner. The owner raises it after
 * its commit and before it answers, so a replica that reads it afterwards knows that it is behind. It raises it too whenever a
 * replica asks it for changes: then a version that went missing is there again.
 */
export interface Versions {
  /** Never lowers a version that is there. Best effort: the event that follows carries the same news. */
  raise(owner: VersionedOwner, workspaceId: number, version: number): Promise<void>;
  /** One answer an owner, in order; `undefined` where nothing is known, which means "ask the owner". */
  read(owners: readonly VersionedOwner[], workspaceId: number): Promise<(number | undefined)[]>;
}

export function memoryVersions(): Versions {
  const known = new Map<string, number>();
  return {
    raise: async (owner, workspaceId, version) => {
      const key = keyOf(owner, workspaceId);
      known.set(key, Math.max(version, known.get(key) ?? 0));
    },
    read: async (owners, workspaceId) => owners.map((owner) => known.get(keyOf(owner, workspaceId))),
  };
}

// Two commits may raise in either order; the higher one must stay.
const RAISE = `
  local held = redis.call('get', KEYS[1])
  if not held or tonumber(ARGV[1]) > tonumber(held) then redis.call('set', KEYS[1], ARGV[1]) end
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
