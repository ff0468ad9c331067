import type { Knex } from '@tocsin/postgres';
import { teamStore } from '../store/team-store.ts';
import { userStore } from '../store/user-store.ts';

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
