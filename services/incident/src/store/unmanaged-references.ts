import type { UnmanagedReferences } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';

/** contract: Limits */
const MAX_REFERENCES = 100;

/**
 * Returns the `service` values of a workspace's active incidents that match no slug of the catalog (contract: Catalog), the
 * most frequent first. Archived services count as matches.
 */
export async function unmanagedReferences(db: Knex, workspaceId: number): Promise<UnmanagedReferences> {
  const used = db('incidents')
    .select('service as value')
    .count({ incident_count: 'id' })
    .where('workspace_id', workspaceId)
    .whereNull('archived_at')
    .whereNot('service', '')
    .groupBy('service');
  const rows = await db
    .select<UnmanagedReferences['references']>('value', 'incident_count')
    .from(used.as('used'))
    .whereNotExists(
      db('replica_services')
        .select('id')
        .where('workspace_id', workspaceId)
        // The catalog stores slugs in NFC.
        .whereRaw('slug = normalize(used.value, NFC)'),
    )
    .orderByRaw('incident_count desc, value collate "C"')
    .limit(MAX_REFERENCES + 1);
  return { references: rows.slice(0, MAX_REFERENCES), truncated: rows.length > MAX_REFERENCES };
}
