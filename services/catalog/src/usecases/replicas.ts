import type { WorkspaceContext } from '@tocsin/http';
import type { Knex, Logger } from '@tocsin/runtime';
import { LRUCache } from 'lru-cache';
import type { Neighbours } from '../clients/neighbours.ts';
import { userStore } from '../store/user-store.ts';

/** Brings the users' replica up to date before something is judged or shown by it. */
export interface Replicas {
  /**
   * After it, what the gateway had changed when it let the request in is in the replica. A gateway that cannot be reached
   * leaves the replica as it stands.
   */
  refresh(workspace: WorkspaceContext): Promise<void>;
}

export function replicas(options: { database: Knex; neighbours: Neighbours; log: Logger }): Replicas {
  const { database, neighbours, log } = options;
  // Versions only rise, so what was once reached here stays reached, whichever process reached it.
  const reached = new LRUCache<number, number>({ max: 10_000 });

  return {
    async refresh(workspace) {
      if ((reached.get(workspace.id) ?? -1) >= workspace.version) return;
      const here = await userStore(database, workspace.id).findVersion();
      if (here !== undefined && here >= workspace.version) {
        reached.set(workspace.id, here);
        return;
      }
      try {
        reached.set(workspace.id, await pull({ database, neighbours, workspace, since: here ?? 0 }));
      } catch (error) {
        log.warn({ err: error, workspace: workspace.id }, 'the gateway cannot be asked, the replica stays as it is');
      }
    },
  };
}

/** @returns the version that was reached */
async function pull(options: {
  database: Knex;
  neighbours: Neighbours;
  workspace: WorkspaceContext;
  since: number;
}): Promise<number> {
  const { database, neighbours, workspace, since } = options;
  const { version, users } = await neighbours.users(workspace.id, since);
  await database.transaction(async (trx) => {
    const store = userStore(trx, workspace.id);
    // First of all: it serializes pulls of the same workspace, and none of them waits for another's network call.
    await store.advance(version);
    await store.put(version, users);
  });
  return version;
}
