import type { CustomFieldDefinition, ServiceSnapshot, TeamSnapshot, UserSnapshot } from '@tocsin/contracts';
import { type Knex, named } from '@tocsin/runtime';

export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

export interface ReplicaVersion {
  /** Everything that the owner changed up to this version is here. */
  version: number;
  /** The gateway's version of the workspace when the owner was last asked. */
  workspaceVersion: number;
}

/** Rows to a statement, which takes 65,535 parameters at most. */
const BATCH = 5_000;

/** Copies of other services' data about one workspace, over a pool or a transaction. */
export function replicaStore(db: Knex, workspaceId: number) {
  /** Writes rows as they were at `version`; a row that is known from a later version stays. */
  const upsert = async (table: string, version: number, rows: Record<string, unknown>[]) => {
    for (let start = 0; start < rows.length; start += BATCH) {
      const batch = rows.slice(start, start + BATCH);
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
        .first<{ version: number; workspace_version: number } | undefined>('version', 'workspace_version');
      return row && { version: row.version, workspaceVersion: row.workspace_version };
    },

    /** Never lowers a version: two pulls may end in either order. */
    async advance(owner: ReplicaOwner, to: ReplicaVersion): Promise<void> {
      await db('replica_versions')
        .insert({ workspace_id: workspaceId, owner, version: to.version, workspace_version: to.workspaceVersion })
        .onConflict(['workspace_id', 'owner'])
        .merge({
          version: db.raw('greatest(replica_versions.version, excluded.version)'),
          workspace_version: db.raw('greatest(replica_versions.workspace_version, excluded.workspace_version)'),
        });
    },

    /** After one event: only where it follows what is here is everything up to it here. */
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

    /** The tiers, whole, in rank order. */
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

    /** The owner that an active service of this slug hands on to its incidents. */
    async findOwnerTeam(slug: string): Promise<number | null> {
      const [row] = await named<{ owner_team_id: number | null }>(
        db,
        'find-owner-team',
        'select owner_team_id from replica_services where workspace_id = $1 and slug = $2 and archived_at is null',
        [workspaceId, slug.normalize('NFC')],
      );
      return row?.owner_team_id ?? null;
    },

    /** Definitions of custom fields, archived ones included. */
    async fields(): Promise<CustomFieldDefinition[]> {
      const rows = await db('replica_fields')
        .where({ workspace_id: workspaceId })
        .select<{ definition: CustomFieldDefinition }[]>('definition');
      return rows.map(({ definition }) => definition);
    },

    /** Of these user IDs, those of active users. */
    async activeUsers(ids: readonly number[]): Promise<Set<number>> {
      const rows = await db('replica_users')
        .where({ workspace_id: workspaceId, active: true })
        .whereIn('id', ids)
        .select<{ id: number }[]>('id');
      return new Set(rows.map(({ id }) => id));
    },
  };
}
