import type { CustomFieldDefinition, ServiceSnapshot, TeamSnapshot, UserSnapshot } from '@tocsin/contracts';
import { type Knex, runPrepared } from '@tocsin/runtime';

export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

export interface ReplicaVersion {
  /** The replica has every change of the owner up to this version. */
  version: number;
  /** The gateway's version of the workspace at the last call of the owner. */
  workspaceVersion: number;
}

interface VersionRow {
  version: number;
  workspace_version: number;
}

const toVersion = (row: VersionRow): ReplicaVersion => ({
  version: row.version,
  workspaceVersion: row.workspace_version,
});

/** Rows per statement; a statement has at most 65,535 parameters. */
const BATCH_SIZE = 5_000;

/** Stores the replicas of other services' data for one workspace, over a pool or a transaction. */
export function replicaStore(db: Knex, workspaceId: number) {
  /** Writes the rows of `version`; keeps a row of a later version. */
  const upsert = async (table: string, version: number, rows: Record<string, unknown>[]) => {
    for (let start = 0; start < rows.length; start += BATCH_SIZE) {
      const batch = rows.slice(start, start + BATCH_SIZE);
      await db(table)
        .insert(batch.map((row) => ({ ...row, workspace_id: workspaceId, version })))
        .onConflict('id')
        .merge()
        .where(`${table}.version`, '<=', version);
    }
  };
  return {
    async findVersion(owner: ReplicaOwner): Promise<ReplicaVersion | undefined> {
      const row = await db('replica_versions')
        .where({ workspace_id: workspaceId, owner })
        .first<VersionRow | undefined>('version', 'workspace_version');
      return row && toVersion(row);
    },

    /**
     * Raises the replica's version; never lowers it, because two pulls may end in either order. Locks the row until the
     * transaction ends.
     * @returns the replica's version; higher than `to` if the fetched changes are out of date
     */
    async advance(owner: ReplicaOwner, to: ReplicaVersion): Promise<ReplicaVersion> {
      const [row] = await db('replica_versions')
        .insert({ workspace_id: workspaceId, owner, version: to.version, workspace_version: to.workspaceVersion })
        .onConflict(['workspace_id', 'owner'])
        .merge({
          version: db.raw('greatest(replica_versions.version, excluded.version)'),
          workspace_version: db.raw('greatest(replica_versions.workspace_version, excluded.workspace_version)'),
        })
        .returning<VersionRow[]>(['version', 'workspace_version']);
      return toVersion(row as VersionRow);
    },

    /** Raises the version after an event, only if the event is the next change: otherwise the replica has a gap. */
    async advanceByOne(owner: ReplicaOwner, version: number): Promise<void> {
      await db('replica_versions')
        .where({ workspace_id: workspaceId, owner, version: version - 1 })
        .update({ version });
    },

    putUsers: (version: number, users: readonly UserSnapshot[]) =>
      upsert(
        'replica_users',
        version,
        users.map(({ id, active }) => ({ id, active })),
      ),

    putTeams: (version: number, teams: readonly TeamSnapshot[]) =>
      upsert(
        'replica_teams',
        version,
        teams.map(({ id, name, slug, archived_at }) => ({ id, name, slug, archived_at })),
      ),

    putServices: (version: number, services: readonly ServiceSnapshot[]) =>
      upsert(
        'replica_services',
        version,
        services.map(({ id, slug, tier, owner_team_id, archived_at }) => ({
          id,
          slug,
          tier,
          owner_team_id,
          archived_at,
        })),
      ),

    putFields: (version: number, fields: readonly CustomFieldDefinition[]) =>
      upsert(
        'replica_fields',
        version,
        fields.map((field) => ({
          id: field.id,
          slug: field.slug,
          archived_at: field.archived_at,
          definition: JSON.stringify(field),
        })),
      ),

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

    async isActiveTeam(id: number): Promise<boolean> {
      const row = await db('replica_teams')
        .where({ workspace_id: workspaceId, id })
        .whereNull('archived_at')
        .first<{ id: number } | undefined>('id');
      return row !== undefined;
    },

    /** Returns the owner team of the active service with this slug. */
    async findOwnerTeam(slug: string): Promise<number | null> {
      const [row] = await runPrepared<{ owner_team_id: number | null }>(
        db,
        'find-owner-team',
        'select owner_team_id from replica_services where workspace_id = $1 and slug = $2 and archived_at is null',
        [workspaceId, slug.normalize('NFC')],
      );
      return row?.owner_team_id ?? null;
    },

    /** Returns the definitions of all custom fields, including archived ones. */
    async fields(): Promise<CustomFieldDefinition[]> {
      const rows = await db('replica_fields')
        .where({ workspace_id: workspaceId })
        .select<{ definition: CustomFieldDefinition }[]>('definition');
      return rows.map(({ definition }) => definition);
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
