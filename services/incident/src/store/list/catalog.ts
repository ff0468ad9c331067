import type { Knex } from '@tocsin/runtime';
import type { CatalogService, CatalogTeam } from './question.ts';

/** The tiers of a workspace of whose catalog nothing is known yet. */
const DEFAULT_TIERS = ['t0', 't1', 't2', 't3'].map((key) => ({ key }));

/** The services of a workspace, archived ones included. */
export async function readServices(db: Knex, workspaceId: number): Promise<CatalogService[]> {
  const rows = await db('replica_services')
    .where({ workspace_id: workspaceId })
    .select<{ slug: string; tier: string; owner_team_id: number | null; archived_at: string | null }[]>(
      'slug',
      'tier',
      'owner_team_id',
      'archived_at',
    );
  return rows.map(({ slug, tier, owner_team_id, archived_at }) => ({
    slug,
    tier,
    ownerTeamId: archived_at === null ? owner_team_id : null,
  }));
}

/** The teams of a workspace, archived ones included. */
export const readTeams = async (db: Knex, workspaceId: number): Promise<CatalogTeam[]> =>
  db('replica_teams').where({ workspace_id: workspaceId }).select<CatalogTeam[]>('id', 'name');

/** The service tiers of a workspace, in rank order. */
export async function readTiers(db: Knex, workspaceId: number): Promise<{ key: string }[]> {
  const tiers = await db('replica_tiers')
    .where({ workspace_id: workspaceId })
    .orderBy('rank')
    .select<{ key: string }[]>('key');
  return tiers.length === 0 ? DEFAULT_TIERS : tiers;
}
