import type { Knex } from '@tocsin/runtime';
import { LRUCache } from 'lru-cache';
import { type Fields, fieldsOf } from '../domain/fields.ts';
import { replicaStore } from './replica-store.ts';

/** Where a workspace's custom fields are read. */
export interface FieldDefinitions {
  /** @param version where the replica surely stands; `undefined` when that is not known */
  get(workspaceId: number, version: number | undefined): Promise<Fields>;
}

/** Keeps definitions by the version that the replica had reached before they were read, so that nothing stale is used. */
export function fieldDefinitions(database: Knex): FieldDefinitions {
  const known = new LRUCache<string, Fields>({ max: 1_000 });
  return {
    async get(workspaceId, version) {
      const key = `${workspaceId}@${version}`;
      const cached = version === undefined ? undefined : known.get(key);
      if (cached !== undefined) return cached;
      const fields = fieldsOf(await replicaStore(database, workspaceId).fields());
      if (version !== undefined) known.set(key, fields);
      return fields;
    },
  };
}
