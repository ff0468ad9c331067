import type { Knex } from '@tocsin/postgres';

/**
 * Returns the number of a workspace's latest committed incident; 0 before the first. A create locks the counter's row until
 * it commits, so numbers become visible in order: every incident that a client knows has this number or a lower one, and
 * every later create gets a higher one.
 */
export async function lastNumber(db: Knex, workspaceId: number): Promise<number> {
  const row = await db('incident_counters')
    .where({ workspace_id: workspaceId })
    .first<{ last: number } | undefined>('last');
  return row?.last ?? 0;
}
