import { invalidState, notFound } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { workspaceStore } from './store/workspace-store.ts';

/** Milliseconds for which a workspace has to be suspended: what was under way, or waits in queues, has ended. */
const MIN_SUSPENSION = 7 * 24 * 3_600_000;

/**
 * Begins the deletion of a suspended workspace, or goes on with it (contract: Deleting a workspace). Returns its ID.
 * @throws DomainError `not_found`, also for one that is deleted; `invalid_resource_state` for one that is not suspended for long
 *   enough
 */
export async function beginWorkspaceDeletion(trx: Knex.Transaction, slug: string, now: Instant): Promise<number> {
  const workspace = await workspaceStore(trx).findBySlug(slug);
  if (workspace === undefined) {
    const [begun] = await query<{ id: number }>(trx, {
      text: `select workspace_id as id from deleted_workspaces where slug = $1 order by requested_at desc limit 1`,
      values: [slug],
    });
    if (begun === undefined) throw notFound(`The workspace ${slug}`);
    return begun.id;
  }
  const { id, suspendedAt } = workspace;
  if (suspendedAt === null || suspendedAt > addMilliseconds(now, -MIN_SUSPENSION))
    throw invalidState(`The workspace ${slug} must be suspended for seven days before it is deleted`);
  await query(trx, {
    text: `insert into deleted_workspaces (workspace_id, slug, requested_at) values ($1, $2, $3)
      on conflict (workspace_id) do nothing`,
    values: [id, slug, now],
  });
  return id;
}

/** Deletes the row of a workspace that has no other row left. */
export async function endWorkspaceDeletion(trx: Knex.Transaction, id: number, now: Instant): Promise<void> {
  await query(trx, { text: 'delete from workspaces where id = $1', values: [id] });
  await query(trx, {
    text: 'update deleted_workspaces set completed_at = $2 where workspace_id = $1',
    values: [id, now],
  });
  await announceIdentityChange(trx);
}
