import type { UserSnapshot } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';
import { sortName } from '../domain/sort-name.ts';

/** A statement takes 65,535 values at most. */
const BATCH = 1_000;

/** Copies of the gateway's users of one workspace, over a pool or a transaction. */
export function userStore(db: Knex, workspaceId: number) {
  return {
    /** Everything that the gateway changed up to this version is here; `undefined` before it was ever asked. */
    async findVersion(): Promise<number | undefined> {
      const row = await db('replica_versions')
        .where({ workspace_id: workspaceId })
        .first<{ version: number } | undefined>('version');
      return row?.version;
    },

    /** Never lowers the version: two pulls may end in either order. */
    async advance(version: number): Promise<void> {
      await db('replica_versions')
        .insert({ workspace_id: workspaceId, version })
        .onConflict('workspace_id')
        .merge({ version: db.raw('greatest(replica_versions.version, excluded.version)') });
    },

    /** After one event: only where it follows what is here is everything up to it here. */
    async advanceByOne(version: number): Promise<void> {
      await db('replica_versions')
        .where({ workspace_id: workspaceId, version: version - 1 })
        .update({ version });
    },

    /** Writes users as they were at `version`; one that is known from a later version stays. */
    async put(version: number, users: readonly UserSnapshot[]): Promise<void> {
      const rows = users.map(({ id, email, name, active }) => ({
        id,
        workspace_id: workspaceId,
        email,
        name,
        sort_name: sortName(name),
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
