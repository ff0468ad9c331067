import { changePageQuery, INTERNAL_PATHS, type UserChangePage } from '@tocsin/contracts';
import { type InternalRoute, internalRoute } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { readUserChanges } from '../usecases/read-user-changes.ts';

/** Return the users of a workspace that changed, for the replicas of other services. */
export function userChangesRoutes(database: Knex): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.userChangePages,
      query: changePageQuery,
      callers: ['incident', 'catalog'],
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<UserChangePage> =>
        readUserChanges(database, { workspaceId, since, after }),
    }),
  ];
}
