import type { UserSnapshot } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { sortKeyOf } from '../domain/sort-key.ts';

/** Rows per statement: a statement takes at most 65,535 values. */
const BATCH = 1_000;

export interface UserReplicaVersion {
  /** The replica has all changes up to this version. */
  version: number;
  /** Where a pull that is not complete continues; null after a complete one. */
  position: string | null;
}

/** A user and the version of the workspace at which the user was so. */
export interface VersionedUser {
  version: number;
  user: UserSnapshot;
}

/** The replica of the gateway's users of one workspace, over a pool or a transaction. */
export function userStore(db: Knex, workspaceId: number) {
  return {
    /** Returns `undefined` before the first pull. */
    findVersion: async (): Promise<UserReplicaVersion | undefined> =>
      db('replica_versions')
        .where({ workspace_id: workspaceId })
        .first<UserReplicaVersion | undefined>('version', 'position'),

    /** Raises the version after a page. Never lowers it: two pulls may end in either order. */
    async raiseVersion({ version, position }: UserReplicaVersion): Promise<void> {
      await db('replica_versions')
        .insert({ workspace_id: workspaceId, version, position })
        .onConflict('workspace_id')
        .merge({
          version: db.raw('greatest(replica_versions.version, excluded.version)'),
          position: db.raw(`case when excluded.version >= replica_versions.version then excluded.position
            else replica_versions.position end`),
        });
    },

    /** Raises the version after one event. Does nothing if earlier changes are still missing. */
    async raiseVersionIfNext(version: number): Promise<void> {
      await db('replica_versions')
        .where({ workspace_id: workspaceId, version: version - 1 })
        .update({ version });
    },

    /**
     * Writes users; those that are stored with a later version stay unchanged. Returns the IDs of those that were not stored
     * or whose activity differs. The users stay locked until the transaction ends.
     */
    async upsert(users: readonly VersionedUser[]): Promise<number[]> {
      const known = await db('replica_users')
        .whereRaw('id = any(?::bigint[])', [users.map(({ user }) => user.id)])
        .orderBy('id')
        .forUpdate()
        .select<{ id: number; active: boolean }[]>('id', 'active');
      const wasActive = new Map(known.map(({ id, active }) => [id, active]));
      const rows = users.map(({ version, user: { id, email, name, active } }) => ({
        id,
        workspace_id: workspaceId,
        email,
        name,
        sort_name: sortKeyOf(name),
        active,
        version,
      }));
      for (let start = 0; start < rows.length; start += BATCH) {
        await db('replica_users')
          .insert(rows.slice(start, start + BATCH))
          .onConflict('id')
          .merge()
          .where('replica_users.version', '<=', db.raw('excluded.version'));
      }
      return rows.filter(({ id, active }) => wasActive.get(id) !== active).map(({ id }) => id);
    },

    /** Removes the users that are not among these, and returns their IDs. */
    async removeExcept(ids: readonly number[]): Promise<number[]> {
      const removed = await db('replica_users')
        .where({ workspace_id: workspaceId })
        .whereRaw('id <> all(?::bigint[])', [[...ids]])
        .delete()
        .returning<{ id: number }[]>('id');
      return removed.map(({ id }) => id);
    },

    /** Returns whether the user is active, and keeps that until the transaction ends. Take this lock before that of a team. */
    async lockActive(id: number): Promise<boolean> {
      const rows = await db('replica_users')
        .where({ workspace_id: workspaceId, id, active: true })
        .forShare()
        .select('id');
      return rows.length > 0;
    },
  };
}
