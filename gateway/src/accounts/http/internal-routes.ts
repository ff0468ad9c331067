import {
  actingUserQuery,
  auditLogDeletion,
  changedConfiguration,
  changePageQuery,
  INTERNAL_PATHS,
  type People,
  peopleQuery,
  type UserChangePage,
} from '@tocsin/schemas';
import { internalCommand, type InternalRoute, internalRoute } from '@tocsin/http';
import { type ChangesFrom, type Knex, readChangePage } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import { principalOf } from '../../identity/http/identities.ts';
import { identityStore } from '../../identity/store/identity-store.ts';
import { auditStore } from '../../audit/store/audit-store.ts';
import { userLists } from '../store/user-store.ts';
import { workspaceVersions } from '../store/workspace-store.ts';
import { announceConfiguration } from '../workspaces.ts';

/** What other services read of users, for their replicas and by name, and what they change of workspaces. */
export function internalRoutes({
  database,
  clock,
  identitiesChanged,
}: {
  database: Knex;
  clock: Clock;
  identitiesChanged: () => void;
}): InternalRoute[] {
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
        users: await userLists(database).named(workspaceId, named),
      }),
    }),
    // A POST, because addresses of paths are logged; it only reads.
    internalCommand({
      path: INTERNAL_PATHS.actingUsers,
      body: actingUserQuery,
      callers: ['incident'],
      handle: async ({ workspace_id: workspaceId, email }) => {
        const identity = await identityStore(database).findInChat(workspaceId, email);
        return { principal: identity === undefined ? null : principalOf(identity) };
      },
    }),
    internalCommand({
      path: INTERNAL_PATHS.auditLogDeletions,
      body: auditLogDeletion,
      callers: ['incident'],
      handle: async ({ workspace_id: workspaceId, before }) => ({
        more: await auditStore(database).deleteBefore(workspaceId, before),
      }),
    }),
    // Raises the version of a workspace whose configuration the service has changed: it makes the change visible.
    internalCommand({
      path: INTERNAL_PATHS.configurationChanges,
      body: changedConfiguration,
      callers: ['incident'],
      handle: async ({ workspace_id: workspaceId }) => {
        await database.transaction(async (trx) => announceConfiguration(trx, workspaceId, clock.now()));
        identitiesChanged();
        return {};
      },
    }),
  ];
}

/** Returns a page of the users of a workspace that changed, for the replicas of other services. */
export const readUserChanges = async (database: Knex, from: ChangesFrom): Promise<UserChangePage> =>
  readChangePage(database, {
    from,
    current: async () => (await workspaceVersions(database).find(from.workspaceId)) ?? 0,
    sources: [
      {
        table: 'users',
        read: async (ids) =>
          (await userLists(database).listByIds(from.workspaceId, ids)).map((user) => {
            const { id, email, name, active, seat, role } = user;
            return { id, change: { user: { id, email, name, active, seat, role } } };
          }),
      },
    ],
  });
