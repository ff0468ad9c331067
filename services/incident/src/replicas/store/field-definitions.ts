import type { CustomFieldDefinition } from '@tocsin/schemas';
import { portionsOf, WEIGHTS } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import { boundedCache, ENTRY_BYTES, RequestWork, runForRequest, coalesceCalls } from '@tocsin/runtime';
import { type Fields, fieldsOf } from '../domain/fields.ts';
import type { Versioned } from './replica-store.ts';

/** Reads the custom fields of workspaces. */
export interface FieldDefinitions {
  /** @param version up to which the replica is complete; `undefined` if unknown: then the rows' versions are compared */
  get(workspaceId: number, version: number | undefined): Promise<Fields>;
}

/** A workspace with 200 fields of 50 options each takes about a megabyte, the largest one 32. */
const MAX_BYTES = 64 * 1_048_576;

interface CachedField {
  version: number;
  definition: CustomFieldDefinition;
  bytes: number;
}

interface CachedFields {
  /** The replica's version when they were read, or a later one that changed nothing; 0: unknown. */
  version: number;
  byId: ReadonlyMap<number, CachedField>;
  fields: Fields;
}

/**
 * Caches the definitions of each workspace. They may have tens of megabytes, so only those that have changed are read
 * again, a few at a time and for one request at a time; the others wait for the next reading and share it.
 */
export function fieldDefinitions(database: Knex, { bytes = MAX_BYTES }: { bytes?: number } = {}): FieldDefinitions {
  const cache = boundedCache<number, CachedFields>({ bytes, sizeOf });
  const readings = coalesceCalls<number, CachedFields>();

  const read = async (workspaceId: number): Promise<CachedFields> => {
    const cached = cache.peek(workspaceId);
    const versions = await readVersions(database, workspaceId);
    const changed = versions.filter(({ id, version }) => cached?.byId.get(id)?.version !== version);
    if (cached?.byId.size === versions.length && changed.length === 0) return cached;
    const byId = new Map<number, CachedField>();
    for (const { id } of versions) {
      const field = cached?.byId.get(id);
      if (field !== undefined) byId.set(id, field);
    }
    for (const portion of portionsOf(changed, ({ weight }) => weight)) {
      const ids = portion.map(({ id }) => id);
      for (const { version, row, bytes } of await readFields(database, workspaceId, ids)) {
        byId.set(row.id, { version, definition: row, bytes });
      }
    }
    const fields = fieldsOf(Array.from(byId.values(), ({ definition }) => definition));
    const current = { version: 0, byId, fields };
    cache.set(workspaceId, current);
    return current;
  };

  return {
    async get(workspaceId, version) {
      const cached = cache.get(workspaceId);
      if (cached !== undefined && version !== undefined && cached.version >= version) return cached.fields;
      const current = await readings.run(workspaceId, async () =>
        // For all that wait, not only for the first, whose client may leave.
        runForRequest(forWorkspace(workspaceId), async () => read(workspaceId)),
      );
      if (version !== undefined) current.version = Math.max(current.version, version);
      return current.fields;
    },
  };
}

/** Returns the ID and version of each custom field, archived ones included, and about the bytes of its definition. */
const readVersions = async (database: Knex, workspaceId: number) =>
  query<{ id: number; version: number; weight: number }>(database, {
    name: 'field-versions',
    text: `select id, version, ${WEIGHTS.jsonb('definition')} as weight from replica_fields where workspace_id = $1`,
    values: [workspaceId],
  });

/** Returns the custom fields with these IDs, each with the bytes of its definition. */
const readFields = async (database: Knex, workspaceId: number, ids: readonly number[]) =>
  query<Versioned<CustomFieldDefinition> & { bytes: number }>(database, {
    name: 'fields-by-id',
    text: `select version, definition as row, octet_length(definition::text) as bytes
      from replica_fields where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
    values: [workspaceId, ids],
  });

const forWorkspace = (workspaceId: number) =>
  new RequestWork({ holder: workspaceId, readOnly: false, isClientGone: () => false });

const sizeOf = ({ byId }: CachedFields): number =>
  byId.values().reduce((total, { bytes }) => total + bytes + ENTRY_BYTES, ENTRY_BYTES);
