import type { CustomFieldDefinition } from '@tocsin/contracts';
import type { Instant, Knex } from '@tocsin/runtime';
import type { Configuration } from '../../domain/configuration.ts';
import type { CustomPredicate } from '../../domain/custom-filter.ts';
import type { Conversion } from '../../domain/exchange-rates.ts';
import type { ListFilters } from '../../domain/list-filters.ts';
import type { ListSort } from '../../domain/list-sort.ts';

/** A list request after all checks: everything that the statements of the list depend on. */
export interface IncidentQuery {
  workspaceId: number;
  /** Archived incidents instead of active ones. They are always sorted by when they were archived. */
  archived: boolean;
  filters: ListFilters;
  custom: readonly CustomPredicate[];
  sort: ListSort;
  /** The field that `sort=custom` sorts by; null for every other sort. */
  sortField: CustomFieldDefinition | null;
  configuration: Configuration;
  /** The statuses that pass all filters by status; null: all statuses. */
  statuses: readonly string[] | null;
  /** Empty unless a filter or the sort needs them. */
  services: readonly CatalogService[];
  /** Empty unless the sort needs them. */
  teams: readonly CatalogTeam[];
  conversions: readonly Conversion[];
  /** The list counts incidents created before this instant and does not show them; null: it shows all. */
  visibleFrom: Instant | null;
}

/** What lists need to know of a service in the catalog. */
export interface CatalogService {
  slug: string;
  tier: string;
  /** The team of the service's incidents that have no team of their own; null for an archived service. */
  ownerTeamId: number | null;
}

export interface CatalogTeam {
  id: number;
  name: string;
}

/** The tiers of a workspace whose catalog has not been copied yet. */
const DEFAULT_TIERS = ['t0', 't1', 't2', 't3'].map((key) => ({ key }));

/** The services of a workspace, including archived ones. */
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

/** The teams of a workspace, including archived ones. */
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
