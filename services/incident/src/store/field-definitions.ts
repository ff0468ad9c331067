import { setImmediate } from 'node:timers/promises';
import { ENTRY_BYTES, jsonBytes, type Knex, latestVersionCache } from '@tocsin/runtime';
import { type Fields, fieldsOf } from '../domain/fields.ts';
import { replicaStore } from './replica-store.ts';

/** Reads the custom fields of workspaces. */
export interface FieldDefinitions {
  /** @param version up to which the replica is complete; `undefined` if unknown, which bypasses the cache */
  get(workspaceId: number, version: number | undefined): Promise<Fields>;
}

/** A workspace with 200 fields of 50 options each takes about a megabyte. */
const MAX_BYTES = 64 * 1_048_576;

/**
 * Caches each workspace's definitions by the version that the replica had before they were read, so the cache never returns
 * a stale definition. A newer version replaces an older one.
 */
export function fieldDefinitions(database: Knex, { bytes = MAX_BYTES }: { bytes?: number } = {}): FieldDefinitions {
  const cache = latestVersionCache<{ fields: Fields; size: number }>({ bytes, sizeOf: ({ size }) => size });
  return {
    async get(workspaceId, version) {
      const cached = version === undefined ? undefined : cache.get(workspaceId, version);
      if (cached !== undefined) return cached.fields;
      const fields = fieldsOf(await replicaStore(database, workspaceId).fields());
      if (version !== undefined) cache.set(workspaceId, version, { fields, size: await sizeOf(fields) });
      return fields;
    },
  };
}

/** How many definitions are measured at once, while all other requests wait: each may have 64 KiB. */
const MEASURED_AT_ONCE = 64;

async function sizeOf({ all }: Fields): Promise<number> {
  let size = ENTRY_BYTES;
  for (let start = 0; start < all.length; start += MEASURED_AT_ONCE) {
    if (start > 0) await setImmediate();
    size += jsonBytes(all.slice(start, start + MEASURED_AT_ONCE));
  }
  return size;
}
