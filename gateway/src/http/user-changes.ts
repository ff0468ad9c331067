import { changePageQuery, INTERNAL_PATHS, type UserChangePage, type UserChanges } from '@tocsin/contracts';
import { type InternalRoute, internalRoute } from '@tocsin/http';
import { type ChangesFrom, type Knex, readAllChanges } from '@tocsin/runtime';
import { z } from 'zod';
import { readUserChanges } from '../usecases/read-user-changes.ts';

const CALLERS = ['incident', 'catalog'];

const query = z.strictObject({ workspace_id: z.int().min(1), since: z.int().min(0) });

/** Return the users of a workspace that changed, for the replicas of other services. */
export function userChangesRoutes(database: Knex): InternalRoute[] {
  const readPage = async (from: ChangesFrom): Promise<UserChangePage> => readUserChanges(database, from);
  return [
    internalRoute({
      path: INTERNAL_PATHS.userChangePages,
      query: changePageQuery,
      callers: CALLERS,
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<UserChangePage> =>
        readPage({ workspaceId, since, after }),
    }),
    // For services of the previous release.
    internalRoute({
      path: INTERNAL_PATHS.userChanges,
      query,
      callers: CALLERS,
      handle: async ({ workspace_id: workspaceId, since }): Promise<UserChanges> => {
        const { last, changes } = await readAllChanges({ workspaceId, since }, readPage);
        return { version: last.version, users: changes.map(({ user }) => user) };
      },
    }),
  ];
}
