import type { UnmanagedReferences } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';

/** contract: Limits */
const MAX = 100;

/**
 * The `service` values of a workspace's active incidents that are no slug in the catalog (contract: Catalog), the most
 * frequent first. An archived service is still a service.
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
        // Slugs are kept in NFC, and references are matched to them in NFC.
        .whereRaw('slug = normalize(used.value, NFC)'),
    )
    .orderByRaw('incident_count desc, value collate "C"')
    .limit(MAX + 1);
  return { references: rows.slice(0, MAX), truncated: rows.length > MAX };
}
