import { type Knex, VERSION_GAP } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { publishUser, publishWorkspace } from './announce.ts';

const BATCH = 500;

/**
 * Makes a workspace and all its users newer than anything that replicas have seen, and publishes them again. For data
 * that were restored to an earlier moment: replicas ignore everything that is older than what they have.
 * @param options.seen the highest version that any replica has seen
 * @returns the new version
 */
export async function republishUsers(
  trx: Knex.Transaction,
  { workspaceId, seen, now }: { workspaceId: number; seen: number; now: Instant },
): Promise<number> {
  const workspace = await workspaceStore(trx).raiseVersion(workspaceId, seen + VERSION_GAP);
  await publishWorkspace(trx, workspace, now);
  const rows = await trx('users')
    .where({ workspace_id: workspaceId })
    .update({ version: workspace.version })
    .returning<{ id: number }[]>('id');
  for (let start = 0; start < rows.length; start += BATCH) {
    const ids = rows.slice(start, start + BATCH).map(({ id }) => id);
    for (const user of await userStore(trx).listByIds(workspaceId, ids)) {
      await publishUser(trx, { workspace, user, now });
    }
  }
  await announceIdentityChange(trx);
  return workspace.version;
}
