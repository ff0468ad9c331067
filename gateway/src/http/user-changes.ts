import { changePageQuery, INTERNAL_PATHS, type People, peopleQuery, type UserChangePage } from '@tocsin/contracts';
import { internalCommand, type InternalRoute, internalRoute } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { userStore } from '../store/user-store.ts';
import { readUserChanges } from '../usecases/read-user-changes.ts';

/** Return the users of a workspace that changed, for the replicas of other services, and those that a service names. */
export function userRoutes(database: Knex): InternalRoute[] {
  return [
    internalRoute({
      path: INTERNAL_PATHS.userChangePages,
      query: changePageQuery,
      callers: ['incident', 'catalog'],
      handle: async ({ workspace_id: workspaceId, since, after }): Promise<UserChangePage> =>
        readUserChanges(database, { workspaceId, since, after }),
    }),
    // A POST for the length of its question; it only reads.
    internalCommand({
      path: INTERNAL_PATHS.people,
      body: peopleQuery,
      callers: ['incident'],
      handle: async ({ workspace_id: workspaceId, ...named }): Promise<People> => ({
        users: await userStore(database).named(workspaceId, named),
      }),
    }),
  ];
}
