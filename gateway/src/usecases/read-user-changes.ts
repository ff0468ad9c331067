import type { UserChangePage } from '@tocsin/contracts';
import { type ChangesFrom, type Knex, readChangePage } from '@tocsin/postgres';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';

/** Returns a page of the users of a workspace that changed, for the replicas of other services. */
export const readUserChanges = async (database: Knex, from: ChangesFrom): Promise<UserChangePage> =>
  readChangePage(database, {
    from,
    current: async () => (await workspaceStore(database).findVersion(from.workspaceId)) ?? 0,
    sources: [
      {
        table: 'users',
        read: async (ids) =>
          (await userStore(database).listByIds(from.workspaceId, ids)).map((user) => {
            const { id, email, name, active, seat, role } = user;
            return { id, change: { user: { id, email, name, active, seat, role } } };
          }),
      },
    ],
  });
