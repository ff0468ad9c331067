import type { Knex } from 'knex';
import type { Instant } from './instant.ts';

/**
 * The version of one workspace's data in the service that owns it. It counts changes and is stored in the service's
 * table `workspace_versions` (`workspace_id`, `version`, `changed_at`).
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
     * Increments the version; the transaction stores it in the rows that it changes. The version's row stays locked
     * until the transaction ends, so versions become visible in order, and a reader of one sees all changes up to it.
     */
    async next(): Promise<number> {
      const [row] = await db('workspace_versions')
        .insert({ workspace_id: workspaceId, version: 1 })
        .onConflict('workspace_id')
        .merge({ version: db.raw('workspace_versions.version + 1'), changed_at: db.fn.now() })
        .returning<{ version: number }[]>('version');
      return (row as { version: number }).version;
    },
  };
}

/** A workspace and its version. */
export interface WorkspaceVersion {
  workspaceId: number;
  version: number;
}

/**
 * Lists workspaces whose version changed after a moment of the database's clock, by ID.
 * @param options.since all workspaces if `undefined`
 */
export async function changedVersions(
  db: Knex,
  options: { since: Instant | undefined; afterWorkspace: number; limit: number },
): Promise<WorkspaceVersion[]> {
  const { since, afterWorkspace, limit } = options;
  const query = db('workspace_versions').where('workspace_id', '>', afterWorkspace);
  if (since !== undefined) query.where('changed_at', '>', since);
  const rows = await query
    .orderBy('workspace_id')
    .limit(limit)
    .select<{ workspace_id: number; version: number }[]>('workspace_id', 'version');
  return rows.map((row) => ({ workspaceId: row.workspace_id, version: row.version }));
}
