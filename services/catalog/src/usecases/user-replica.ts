import type { WorkspaceContext } from '@tocsin/http';
import { boundedCache, type Knex, type Logger } from '@tocsin/runtime';
import type { InternalServices } from '../clients/internal-services.ts';
import { userStore } from '../store/user-store.ts';

/** The replica of the gateway's users. */
export interface UserReplica {
  /**
   * Pulls the changes up to the version that the request carries, unless the replica already has them. If the gateway cannot
   * be reached, the replica stays as it is.
   * @returns whether the replica is current; if not, it may lack a user who exists
   */
  refresh(workspace: WorkspaceContext): Promise<boolean>;
}

export function userReplica(options: { database: Knex; internalServices: InternalServices; log: Logger }): UserReplica {
  const { database, internalServices, log } = options;
  // A replica's version only rises, so a cached one is a lower bound, whichever process raised it since.
  const reachedVersions = boundedCache<number, number>({ bytes: 4 * 1_048_576 });

  return {
    async refresh(workspace) {
      if ((reachedVersions.get(workspace.id) ?? -1) >= workspace.version) return true;
      const stored = await userStore(database, workspace.id).findVersion();
      if (stored !== undefined && stored >= workspace.version) {
        reachedVersions.set(workspace.id, stored);
        return true;
      }
      try {
        const pulled = await pull({ database, internalServices, workspace, since: stored ?? 0 });
        reachedVersions.set(workspace.id, pulled);
        return true;
      } catch (error) {
        log.warn(
          { err: error, workspace: workspace.id },
          'cannot get users from the gateway; using the replica as it is',
        );
        return false;
      }
    },
  };
}

/** @returns the version that the replica reached */
async function pull(options: {
  database: Knex;
  internalServices: InternalServices;
  workspace: WorkspaceContext;
  since: number;
}): Promise<number> {
  const { database, internalServices, workspace, since } = options;
  const { version, users } = await internalServices.userChanges(workspace.id, since);
  await database.transaction(async (trx) => {
    const store = userStore(trx, workspace.id);
    // First, because its lock serializes the pulls of a workspace. No pull holds it during a network call.
    await store.raiseVersion(version);
    await store.upsert(version, users);
  });
  return version;
}
