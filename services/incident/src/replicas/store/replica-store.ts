import {
  type CustomFieldDefinition,
  fold,
  type ServiceSnapshot,
  type TeamSnapshot,
  type UserSnapshot,
} from '@tocsin/schemas';
import { WEIGHTS } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';

export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

export interface ReplicaVersion {
  /** The replica has every change of the owner up to this version. */
  version: number;
  /** The gateway's version of the workspace at the last complete pull. */
  workspaceVersion: number;
  /** Where a pull that is not complete continues; null after a complete one. */
  position: string | null;
}

const VERSION_COLUMNS = ['version', 'workspace_version as workspaceVersion', 'position'] as const;

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

/** Rows per statement; a statement has at most 65,535 parameters. */
const BATCH_SIZE = 5_000;

export interface Replicated {
  user: UserSnapshot;
  team: TeamSnapshot;
  service: ServiceSnapshot;
  field: CustomFieldDefinition;
}

/** Where rows are stored, and what of them. */
const KINDS: {
  [Kind in keyof Replicated]: { table: string; toColumns: (row: Replicated[Kind]) => Record<string, unknown> };
} = {
  user: { table: 'replica_users', toColumns: ({ id, active }) => ({ id, active }) },
  team: {
    table: 'replica_teams',
    toColumns: ({ id, name, slug, archived_at }) => ({ id, name, slug, archived_at }),
  },
  service: {
    table: 'replica_services',
    toColumns: ({ id, slug, tier, owner_team_id, observability_names = [], archived_at }) => ({
      ...{ id, slug, tier, owner_team_id, observability_names: observability_names.map(fold), archived_at },
    }),
  },
  field: {
    table: 'replica_fields',
    toColumns: (field) => {
      const { id, slug, archived_at } = field;
      return { id, slug, archived_at, definition: JSON.stringify(field) };
    },
  },
};

/** An active service as monitoring systems call it. */
export interface MonitoredService {
  slug: string;
  /** Its active owner team. */
  ownerTeamId: number | null;
}

/** Stores the replicas of other services' data for one workspace, over a pool or a transaction. */
export function replicaStore(db: Knex, workspaceId: number) {
  const teams = () => db('replica_teams').where({ workspace_id: workspaceId });
  return {
    findVersion: async (owner: ReplicaOwner): Promise<ReplicaVersion | undefined> =>
      db('replica_versions')
        .where({ workspace_id: workspaceId, owner })
        .first<ReplicaVersion | undefined>(VERSION_COLUMNS),

    /**
     * Raises the replica's version; never lowers it, because two pulls may end in either order. Locks the row until the
     * transaction ends.
     * @returns the replica's version; higher than `to` if the fetched changes are out of date
     */
    async advance(owner: ReplicaOwner, to: ReplicaVersion): Promise<ReplicaVersion> {
      const [row] = await db('replica_versions')
        .insert({
          workspace_id: workspaceId,
          owner,
          version: to.version,
          workspace_version: to.workspaceVersion,
          position: to.position,
        })
        .onConflict(['workspace_id', 'owner'])
        .merge({
          version: db.raw('greatest(replica_versions.version, excluded.version)'),
          workspace_version: db.raw('greatest(replica_versions.workspace_version, excluded.workspace_version)'),
          position: db.raw(`case when excluded.version >= replica_versions.version then excluded.position
            else replica_versions.position end`),
        })
        .returning<ReplicaVersion[]>(VERSION_COLUMNS);
      return row as ReplicaVersion;
    },

    /** Raises the version after an event, only if the event is the next change: otherwise the replica has a gap. */
    async advanceByOne(owner: ReplicaOwner, version: number): Promise<void> {
      await db('replica_versions')
        .where({ workspace_id: workspaceId, owner, version: version - 1 })
        .update({ version });
    },

    /** Writes rows of a kind; keeps those that are stored with a later version. */
    async put<Kind extends keyof Replicated>(kind: Kind, rows: readonly Versioned<Replicated[Kind]>[]): Promise<void> {
      const { table, toColumns } = KINDS[kind];
      for (let start = 0; start < rows.length; start += BATCH_SIZE) {
        const batch = rows.slice(start, start + BATCH_SIZE);
        await db(table)
          .insert(batch.map(({ version, row }) => ({ ...toColumns(row), workspace_id: workspaceId, version })))
          .onConflict('id')
          .merge()
          .where(`${table}.version`, '<=', db.raw('excluded.version'));
      }
    },

    /** Replaces all tiers; call it only if `advance` found no newer version. */
    async replaceTiers(tiers: readonly { key: string; order: number }[]): Promise<void> {
      await db('replica_tiers')
        .where({ workspace_id: workspaceId })
        .whereNotIn(
          'key',
          tiers.map(({ key }) => key),
        )
        .delete();
      if (tiers.length === 0) return;
      await db('replica_tiers')
        .insert(tiers.map(({ key, order }) => ({ workspace_id: workspaceId, key, rank: order })))
        .onConflict(['workspace_id', 'key'])
        .merge(['rank']);
    },

    /** Returns those of these team IDs that belong to active teams. */
    async activeTeams(ids: readonly number[]): Promise<Set<number>> {
      const rows = await teams().whereNull('archived_at').whereIn('id', ids).select<{ id: number }[]>('id');
      return new Set(rows.map(({ id }) => id));
    },

    /** Returns the IDs of the teams with these slugs, archived ones included. */
    async teamIds(slugs: readonly string[]): Promise<Map<string, number>> {
      const rows = await teams().whereIn('slug', slugs).select<{ id: number; slug: string }[]>('id', 'slug');
      return new Map(rows.map(({ id, slug }) => [slug, id]));
    },

    /** Returns the slugs of the teams with these IDs. */
    async teamSlugs(ids: readonly number[]): Promise<Map<number, string>> {
      const rows = await teams().whereIn('id', ids).select<{ id: number; slug: string }[]>('id', 'slug');
      return new Map(rows.map(({ id, slug }) => [id, slug]));
    },

    /** Returns the names of the teams with these IDs, archived ones included. */
    async teamNames(ids: readonly number[]): Promise<Map<number, string>> {
      const rows = await teams().whereIn('id', ids).select<{ id: number; name: string }[]>('id', 'name');
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    /** Returns the tier of the service with this slug, archived ones included; null without one. */
    async findTier(slug: string): Promise<string | null> {
      const row = await db('replica_services')
        .where({ workspace_id: workspaceId, slug })
        .first<{ tier: string } | undefined>('tier');
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
      const found = new Map(rows.flatMap((row) => row.names.map((name) => [name, row] as const)));
      for (const row of rows) found.set(fold(row.slug), row);
      return found;
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
      const rows = await db('replica_users')
        .where({ workspace_id: workspaceId, active: true })
        .whereIn('id', ids)
        .select<{ id: number }[]>('id');
      return new Set(rows.map(({ id }) => id));
    },
  };
}
