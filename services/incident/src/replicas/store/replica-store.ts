import {
  type CustomFieldDefinition,
  fold,
  type ServiceSnapshot,
  type TeamSnapshot,
  type UserSnapshot,
} from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { WEIGHTS } from '@tocsin/versioned-resources';
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

/** A custom field without its definition. */
export interface FieldVersion {
  id: number;
  version: number;
  /** About the bytes of the definition. */
  weight: number;
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
    text: `${upsertRows(table, { columns: ['id', 'workspace_id', 'version', ...columns], key: 'id' })}
      where ${table}.version <= excluded.version`,
    values: [JSON.stringify(rows)],
  };
}

/** An active service as monitoring systems call it. */
export interface MonitoredService {
  slug: string;
  /** Its active owner team. */
  ownerTeamId: number | null;
}

/** Stores the replicas of other services' data for one workspace, over a pool or a transaction. */
export function replicaStore(db: Knex, workspaceId: number) {
  /** The teams with these IDs, archived ones included. */
  const findTeams = async (ids: readonly number[]) =>
    query<{ id: number; name: string; slug: string; archivedAt: Instant | null }>(db, {
      name: 'find-teams',
      text: `select id, name, slug, archived_at as "archivedAt" from replica_teams
        where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
      values: [workspaceId, ids],
    });
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

    /** Returns those of these team IDs that belong to active teams. */
    async activeTeams(ids: readonly number[]): Promise<Set<number>> {
      const teams = await findTeams(ids);
      return new Set(teams.filter(({ archivedAt }) => archivedAt === null).map(({ id }) => id));
    },

    /** Returns the IDs of the teams with these slugs, archived ones included. */
    async teamIds(slugs: readonly string[]): Promise<Map<string, number>> {
      const rows = await query<{ id: number; slug: string }>(db, {
        name: 'find-teams-by-slug',
        text: `select id, slug from replica_teams
          where workspace_id = $1 and slug = any((select $2::text[])::text[])`,
        values: [workspaceId, slugs],
      });
      return new Map(rows.map(({ id, slug }) => [slug, id]));
    },

    /** Returns the slugs of the teams with these IDs. */
    async teamSlugs(ids: readonly number[]): Promise<Map<number, string>> {
      return new Map((await findTeams(ids)).map(({ id, slug }) => [id, slug]));
    },

    /** Returns the names of the teams with these IDs, archived ones included. */
    async teamNames(ids: readonly number[]): Promise<Map<number, string>> {
      return new Map((await findTeams(ids)).map(({ id, name }) => [id, name]));
    },

    /** Returns the tier of the service with this slug, archived ones included; null without one. */
    async findTier(slug: string): Promise<string | null> {
      const [row] = await query<{ tier: string }>(db, {
        name: 'find-tier-of-service',
        text: 'select tier from replica_services where workspace_id = $1 and slug = $2',
        values: [workspaceId, slug],
      });
      return row?.tier ?? null;
    },

    /** Returns the owner team of the active service with this slug, unless the team is archived. */
    async findOwnerTeam(slug: string): Promise<number | null> {
      const [row] = await query<{ owner_team_id: number | null }>(db, {
        name: 'find-owner-team',
        text: `select service.owner_team_id from replica_services as service
        left join replica_teams as team on team.id = service.owner_team_id
        where service.workspace_id = $1 and service.slug = $2 and service.archived_at is null
          and team.archived_at is null`,
        values: [workspaceId, slug.normalize('NFC')],
      });
      return row?.owner_team_id ?? null;
    },

    /**
     * Returns the active services that have these slugs or, if none has, these names in monitoring systems, by the folded
     * ones of those.
     */
    async findMonitoredServices(names: readonly string[]): Promise<Map<string, MonitoredService>> {
      const rows = await query<MonitoredService & { names: string[] }>(db, {
        name: 'find-monitored-services',
        text: `select service.slug, service.observability_names as names,
          case when team.archived_at is null then service.owner_team_id end as "ownerTeamId"
        from replica_services as service left join replica_teams as team on team.id = service.owner_team_id
        where service.workspace_id = $1 and service.archived_at is null
          and (service.slug = any($2) or service.observability_names && $3)
        order by service.slug desc`,
        values: [workspaceId, names.map((name) => name.normalize('NFC').toLowerCase()), names.map(fold)],
      });
      const byName = new Map(rows.flatMap((row) => row.names.map((name) => [name, row] as const)));
      for (const row of rows) byName.set(fold(row.slug), row);
      return byName;
    },

    /** Returns the ID and version of each custom field, archived ones included, and what its definition weighs. */
    async fieldVersions(): Promise<FieldVersion[]> {
      return query<FieldVersion>(db, {
        name: 'field-versions',
        text: `select id, version, ${WEIGHTS.jsonb('definition')} as weight from replica_fields where workspace_id = $1`,
        values: [workspaceId],
      });
    },

    /** Returns the custom fields with these IDs, each with the bytes of its definition. */
    async fields(ids: readonly number[]): Promise<(Versioned<CustomFieldDefinition> & { bytes: number })[]> {
      return query<Versioned<CustomFieldDefinition> & { bytes: number }>(db, {
        name: 'fields-by-id',
        text: `select version, definition as row, octet_length(definition::text) as bytes
        from replica_fields where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, ids],
      });
    },

    /** Returns those of these user IDs that belong to active users. */
    async activeUsers(ids: readonly number[]): Promise<Set<number>> {
      const rows = await query<{ id: number }>(db, {
        name: 'find-active-users',
        text: `select id from replica_users
          where workspace_id = $1 and active and id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, ids],
      });
      return new Set(rows.map(({ id }) => id));
    },
  };
}
