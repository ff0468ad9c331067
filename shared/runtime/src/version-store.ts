import type { Knex } from 'knex';

/**
 * The version of one workspace's data in the service that owns them: it counts their changes, in the service's table
 * `workspace_versions`.
 */
export function versionStore(db: Knex, workspaceId: number) {
  return {
    /** 0 before the first change. */
    async current(): Promise<number> {
      const row = await db('workspace_versions')
        .where({ workspace_id: workspaceId })
        .first<{ version: number } | undefined>('version');
      return row?.version ?? 0;
    },

    /**
     * Raises the version, for a transaction to stamp its rows with. The row stays locked until the transaction ends, so
     * versions become visible in their order, and whoever has read one has seen every change up to it.
     */
    async next(): Promise<number> {
      const [row] = await db('workspace_versions')
        .insert({ workspace_id: workspaceId, version: 1 })
        .onConflict('workspace_id')
        .merge({ version: db.raw('workspace_versions.version + 1') })
        .returning<{ version: number }[]>('version');
      return (row as { version: number }).version;
    },
  };
}
