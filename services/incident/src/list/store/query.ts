import type { CustomFieldDefinition } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Configuration } from '../../configuration/domain/configuration.ts';
import type { CustomPredicate } from '../domain/custom-filter.ts';
import type { Conversion } from '../../configuration/domain/exchange-rates.ts';
import type { ListFilters } from '../domain/list-filters.ts';
import type { ListSort } from '../domain/list-sort.ts';
import type { Catalog } from '../../replicas/store/catalog.ts';

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
  /** Empty unless a filter or the sort needs it. */
  catalog: Catalog;
  conversions: readonly Conversion[];
  /** The list counts incidents created before this instant and does not show them; null: it shows all. */
  visibleFrom: Instant | null;
}

/** The tiers of a workspace whose catalog has not been copied yet. */
const DEFAULT_TIERS = ['t0', 't1', 't2', 't3'].map((key) => ({ key }));

/** The service tiers of a workspace, in rank order. */
export async function readTiers(db: Knex, workspaceId: number): Promise<{ key: string }[]> {
  const tiers = await query<{ key: string }>(db, {
    name: 'list-tiers',
    text: 'select key from replica_tiers where workspace_id = $1 order by rank',
    values: [workspaceId],
  });
  return tiers.length === 0 ? DEFAULT_TIERS : tiers;
}
