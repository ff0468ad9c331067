import type { Knex } from '@tocsin/runtime';

/** One transaction at a time counts and adds what a workspace has a limited number of. */
export async function lockWorkspace(trx: Knex.Transaction, workspaceId: number): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`tocsin-webhook-workspace-${workspaceId}`]);
}
