import {
  type CustomFieldDefinition,
  fold,
  type ServiceSnapshot,
  type TeamSnapshot,
  type UserSnapshot,
} from '@tocsin/schemas';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { upsertRows } from '../../shared/store/sql.ts';

export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

export interface ReplicaVersion {
  /** The replica has every change of the owner up to this version. */
  version: number;
  /** The gateway's version of the workspace at the last complete pull. */
  workspaceVersion: number;
  /** Where a pull that is not complete continues; null after a complete one. */
  position: string | null;
}

const VERSION_COLUMNS = 'version, workspace_version as "workspaceVersion", position';

/** A row of a replica and the version at which it was so. */
export interface Versioned<Snapshot> {
  version: number;
  row: Snapshot;
}

export interface Replicated {
  user: UserSnapshot;
  team: TeamSnapshot;
  service: ServiceSnapshot;
  field: CustomFieldDefinition;
}

/** Where rows are stored, and what of them: the columns `id` and these. */
const KINDS: {
  [Kind in keyof Replicated]: { table: string; columns: readonly string[]; toRow: (row: Replicated[Kind]) => object };
} = {
  user: { table: 'replica_users', columns: ['active'], toRow: (user) => user },
  team: { table: 'replica_teams', columns: ['name', 'slug', 'archived_at'], toRow: (team) => team },
  service: {
    table: 'replica_services',
    columns: ['slug', 'tier', 'owner_team_id', 'observability_names', 'archived_at'],
    toRow: ({ observability_names = [], ...service }) => ({
      ...service,
      observability_names: observability_names.map(fold),
    }),
  },
  field: {
    table: 'replica_fields',
    columns: ['slug', 'archived_at', 'definition'],
    toRow: (field) => ({ id: field.id, slug: field.slug, archived_at: field.archived_at, definition: field }),
  },
};

/** A later version of a row stays. */
function putStatement(kind: keyof Replicated, rows: readonly object[]): Statement {
  const { table, columns } = KINDS[kind];
  return {
    name: `put-${kind}s`,
    text: `${upsertRows(table, { columns: ['workspace_id', 'id', 'version', ...columns], key: 'workspace_id, id' })}
      where ${table}.version <= excluded.version`,
    values: [JSON.stringify(rows)],
  };
}

/** Writes the replicas of other services' data for one workspace, over a pool or a transaction. */
export function replicaStore(db: Knex, workspaceId: number) {
  return {
    async findVersion(owner: ReplicaOwner): Promise<ReplicaVersion | undefined> {
      const [version] = await query<ReplicaVersion>(db, {
        name: 'find-replica-version',
        text: `select ${VERSION_COLUMNS} from replica_versions where workspace_id = $1 and owner = $2`,
        values: [workspaceId, owner],
      });
      return version;
    },

    /**
     * Raises the replica's version; never lowers it, because two pulls may end in either order. Locks the row until the
     * transaction ends.
     * @returns the replica's version; higher than `to` if the fetched changes are out of date
     */
    async advance(owner: ReplicaOwner, to: ReplicaVersion): Promise<ReplicaVersion> {
      const [row] = await query<ReplicaVersion>(db, {
        name: 'advance-replica',
        text: `insert into replica_versions (workspace_id, owner, version, workspace_version, position)
          values ($1, $2, $3, $4, $5)
          on conflict (workspace_id, owner) do update set
            version = greatest(replica_versions.version, excluded.version),
            workspace_version = greatest(replica_versions.workspace_version, excluded.workspace_version),
            position = case when excluded.version >= replica_versions.version then excluded.position
              else replica_versions.position end
          returning ${VERSION_COLUMNS}`,
        values: [workspaceId, owner, to.version, to.workspaceVersion, to.position],
      });
      return row as ReplicaVersion;
    },

    /** Raises the version after an event, only if the event is the next change: otherwise the replica has a gap. */
    async advanceByOne(owner: ReplicaOwner, version: number): Promise<void> {
      await query(db, {
        name: 'advance-replica-by-one',
        text: `update replica_versions set version = $3 where workspace_id = $1 and owner = $2 and version = $3 - 1`,
        values: [workspaceId, owner, version],
      });
    },

    /** Writes rows of a kind; keeps those that are stored with a later version. */
    async put<Kind extends keyof Replicated>(kind: Kind, rows: readonly Versioned<Replicated[Kind]>[]): Promise<void> {
      if (rows.length === 0) return;
      const { toRow } = KINDS[kind];
      const stored = rows.map(({ version, row }) => ({ ...toRow(row), workspace_id: workspaceId, version }));
      await query(db, putStatement(kind, stored));
    },

    /** Replaces all tiers; call it only if `advance` found no newer version. */
    async replaceTiers(tiers: readonly { key: string; order: number }[]): Promise<void> {
      const keys = tiers.map(({ key }) => key);
      await pipeline(db, [
        {
          name: 'delete-other-tiers',
          text: 'delete from replica_tiers where workspace_id = $1 and key <> all((select $2::text[])::text[])',
          values: [workspaceId, keys],
        },
        {
          name: 'put-tiers',
          text: `insert into replica_tiers (workspace_id, key, rank)
            select $1::bigint, key, rank from unnest((select $2::text[]), (select $3::int[])) as tier (key, rank)
            on conflict (workspace_id, key) do update set rank = excluded.rank`,
          values: [workspaceId, keys, tiers.map(({ order }) => order)],
        },
      ]);
    },
  };
}
