import type { WorkspaceContext } from '@tocsin/schemas';
import { pullPages, type ReplicaPulls } from '@tocsin/service-host';
import type { Knex } from '@tocsin/postgres';
import { boundedCache } from '@tocsin/runtime';
import type { InternalServices } from '../clients/internal-services.ts';
import { teamStore } from '../store/team-store.ts';
import { userStore, userVersionStore, type VersionedUser } from '../store/user-store.ts';

/** The replica of the gateway's users. */
export interface UserReplica {
  /**
   * Pulls the changes up to the version that the request carries, unless the replica already has them. If the gateway cannot
   * be reached, the replica stays as it is; if there is more to fetch than fits into the time of a request, that goes on in
   * the background.
   * @returns whether the replica is current; if not, it may lack a user who exists
   */
  refresh(workspace: WorkspaceContext): Promise<boolean>;
}

export function userReplica(options: {
  database: Knex;
  internalServices: InternalServices;
  pulls: ReplicaPulls;
}): UserReplica {
  const { database, internalServices, pulls } = options;
  // A replica's version only rises, so a cached one is a lower bound, whichever process raised it since.
  const reachedVersions = boundedCache<number, number>({ bytes: 4 * 1_048_576 });

  return {
    async refresh(workspace) {
      if ((reachedVersions.get(workspace.id) ?? -1) >= workspace.version) return true;
      const stored = await userVersionStore(database, workspace.id).find();
      if (stored?.position === null && stored.version >= workspace.version) {
        reachedVersions.set(workspace.id, stored.version);
        return true;
      }
      const pulled = await pulls.run({
        key: String(workspace.id),
        pull: async (signal) =>
          pullUsers({ database, userChanges: internalServices.userChanges, workspaceId: workspace.id, signal }),
      });
      if (pulled === undefined) return false;
      reachedVersions.set(workspace.id, pulled);
      return true;
    },
  };
}

/** Writes users to the replica. Teams count only active users as members. */
export async function applyUsers(
  trx: Knex.Transaction,
  workspaceId: number,
  users: readonly VersionedUser[],
): Promise<void> {
  await teamStore(trx, workspaceId).recountTeamsOf(await userStore(trx, workspaceId).upsert(users));
}

/** Pulls page after page. @returns the version that the replica reached; undefined if the signal was aborted before */
async function pullUsers(options: {
  database: Knex;
  userChanges: InternalServices['userChanges'];
  workspaceId: number;
  signal: AbortSignal;
}): Promise<number | undefined> {
  const { database, userChanges, workspaceId, signal } = options;
  const stored = await userVersionStore(database, workspaceId).find();
  return pullPages({
    from: { since: stored?.version ?? 0, after: stored?.position ?? undefined },
    signal,
    fetch: async (from) => userChanges({ workspaceId, ...from }),
    apply: async ({ version, next, changes }) =>
      database.transaction(async (trx) => {
        // First, because its lock serializes the pulls of a workspace. No pull holds it during a network call.
        await userVersionStore(trx, workspaceId).raise({ version, position: next });
        await applyUsers(trx, workspaceId, changes);
        return version;
      }),
  });
}
