import type { Knex } from 'knex';
import { query } from './database.ts';
import type { Instant } from '@tocsin/runtime';

/**
 * The version of one workspace's data in the service that owns it. It counts changes and is stored in the service's
 * table `workspace_versions` (`workspace_id`, `version`, `changed_at`).
 */
export function versionStore(db: Knex, workspaceId: number) {
  return {
    /** 0 before the first change. */
    async current(): Promise<number> {
      const [row] = await query<{ version: number }>(db, {
        name: 'read-workspace-version',
        text: 'select version from workspace_versions where workspace_id = $1',
        values: [workspaceId],
      });
      return row?.version ?? 0;
    },

    /**
     * Increments the version; the transaction stores it in the rows that it changes. The version's row stays locked
     * until the transaction ends, so versions become visible in order, and a reader of one sees all changes up to it.
     */
    async next(): Promise<number> {
      const [row] = await query<{ version: number }>(db, {
        name: 'raise-workspace-version',
        text: `insert into workspace_versions (workspace_id, version) values ($1, 1)
          on conflict (workspace_id) do update set version = workspace_versions.version + 1, changed_at = now()
          returning version`,
        values: [workspaceId],
      });
      return (row as { version: number }).version;
    },

    /**
     * Raises the version above what replicas have seen, after the owner's database was restored to an earlier moment. It
     * leaves a gap, so that no replica takes a single event for the next change and considers itself complete.
     */
    async raiseAbove(seen: number): Promise<number> {
      const [row] = await query<{ version: number }>(db, {
        text: `insert into workspace_versions (workspace_id, version) values ($1, $2::bigint + ${VERSION_GAP})
          on conflict (workspace_id) do update set
            version = greatest(workspace_versions.version, $2) + ${VERSION_GAP}, changed_at = now()
          returning version`,
        values: [workspaceId, seen],
      });
      return (row as { version: number }).version;
    },
  };
}

/** By how much a version rises that is raised above what replicas have seen. */
export const VERSION_GAP = 2;

/** A workspace and its version. */
export interface WorkspaceVersion {
  workspaceId: number;
  version: number;
}

/** One row at least, which has the time. */
const changed = (condition: string) => `
  select now() as now, changed.workspace_id as "workspaceId", changed.version from (values (1)) as one (row)
  left join (
    select workspace_id, version from workspace_versions
    where workspace_id > $1 ${condition} order by workspace_id limit $2) as changed on true
  order by changed.workspace_id`;
const ALL = changed('');
const CHANGED = changed('and changed_at > $3::timestamptz');

/**
 * Lists workspaces whose version changed after a moment of the database's clock, by ID. `now` is from before they were
 * read.
 * @param options.since all workspaces if `undefined`
 */
export async function changedVersions(
  db: Knex,
  options: { since: Instant | undefined; afterWorkspace: number; limit: number },
): Promise<{ now: Instant; versions: WorkspaceVersion[] }> {
  const { since, afterWorkspace, limit } = options;
  type Row = { now: Instant } & (WorkspaceVersion | { workspaceId: null });
  const values = [afterWorkspace, limit];
  const rows =
    since === undefined
      ? await query<Row>(db, { name: 'list-versions', text: ALL, values, isPoll: true })
      : await query<Row>(db, {
          name: 'list-changed-versions',
          text: CHANGED,
          values: [...values, since],
          isPoll: true,
        });
  const [{ now }] = rows as [Row];
  const versions = rows.flatMap((row) =>
    row.workspaceId === null ? [] : [{ workspaceId: row.workspaceId, version: row.version }],
  );
  return { now, versions };
}
