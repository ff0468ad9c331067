import { INTERNAL_PATHS, type UserChanges } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { z } from 'zod';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';

const query = z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) });

/** Returns the users of a workspace that changed after a version, for the replicas of other services. */
export const userChangesRoute = (database: Knex) =>
  internalRoute({
    path: INTERNAL_PATHS.userChanges,
    query,
    callers: ['incident', 'catalog'],
    handle: async ({ workspace_id, since }): Promise<UserChanges> => {
      // The version is read first: a user who changes in between is returned now and the next time, never missed.
      const version = await workspaceStore(database).findVersion(workspace_id);
      const users = await userStore(database).changedSince(workspace_id, since);
      return {
        version: version ?? 0,
        users: users.map(({ id, email, name, active, seat, role }) => ({ id, email, name, active, seat, role })),
      };
    },
  });
