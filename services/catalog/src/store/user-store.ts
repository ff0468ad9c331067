import type { UserSnapshot } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';
import { sortKeyOf } from '../domain/sort-key.ts';

/** Rows per statement: a statement takes at most 65,535 values. */
const BATCH = 1_000;

/** The replica of the gateway's users of one workspace, over a pool or a transaction. */
export function userStore(db: Knex, workspaceId: number) {
  return {
    /** Returns the version up to which the replica has all changes; `undefined` before the first pull. */
    async findVersion(): Promise<number | undefined> {
      const row = await db('replica_versions')
        .where({ workspace_id: workspaceId })
        .first<{ version: number } | undefined>('version');
      return row?.version;
    },

    /** Raises the version after a pull. Never lowers it: two pulls may end in either order. */
    async raiseVersion(version: number): Promise<void> {
      await db('replica_versions')
        .insert({ workspace_id: workspaceId, version })
        .onConflict('workspace_id')
        .merge({ version: db.raw('greatest(replica_versions.version, excluded.version)') });
    },

    /** Raises the version after one event. Does nothing if earlier changes are still missing. */
    async raiseVersionIfNext(version: number): Promise<void> {
      await db('replica_versions')
        .where({ workspace_id: workspaceId, version: version - 1 })
        .update({ version });
    },

    /** Writes users as they were at `version`; users that are stored with a later version stay unchanged. */
    async upsert(version: number, users: readonly UserSnapshot[]): Promise<void> {
      const rows = users.map(({ id, email, name, active }) => ({
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
          .where('replica_users.version', '<=', version);
      }
    },

    async isActive(id: number): Promise<boolean> {
      const rows = await db('replica_users').where({ workspace_id: workspaceId, id, active: true }).select('id');
      return rows.length > 0;
    },
  };
}
