import { INTERNAL_PATHS, type UserChanges } from '@tocsin/contracts';
import { internalRoute } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { z } from 'zod';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';

const query = z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) });

/** What a replica of a workspace's users has missed since a version. */
export const userChangesRoute = (database: Knex) =>
  internalRoute({
    path: INTERNAL_PATHS.userChanges,
    query,
    handle: async ({ workspace_id, since }): Promise<UserChanges> => {
      // The version first: a user who changes in between is told now and once more, never left out.
      const version = await workspaceStore(database).findVersion(workspace_id);
      const users = await userStore(database).changedSince(workspace_id, since);
      return {
        version: version ?? 0,
        users: users.map(({ id, email, name, active, seat, role }) => ({ id, email, name, active, seat, role })),
      };
    },
  });
