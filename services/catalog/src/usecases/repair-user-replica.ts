import type { Knex } from '@tocsin/postgres';
import type { InternalServices } from '../clients/internal-services.ts';
import { teamStore } from '../store/team-store.ts';
import { userStore } from '../store/user-store.ts';
import { pullUsers } from './user-replica.ts';

/** Removes users that the gateway does not have. They remain after its database was restored to an earlier moment. */
export async function removeUnknownUsers(
  database: Knex,
  { workspaceId, knownIds }: { workspaceId: number; knownIds: readonly number[] },
): Promise<void> {
  await database.transaction(async (trx) => {
    const removedIds = await userStore(trx, workspaceId).removeExcept(knownIds);
    await teamStore(trx, workspaceId).recountTeamsOf(removedIds);
  });
}

/** Makes the replica of a workspace's users complete, for an operator. */
export async function completeUserReplica(
  database: Knex,
  { workspaceId, userChanges }: { workspaceId: number; userChanges: InternalServices['userChanges'] },
): Promise<void> {
  await pullUsers({ database, userChanges, workspaceId, signal: new AbortController().signal });
}
