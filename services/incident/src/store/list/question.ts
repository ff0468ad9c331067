import type { Instant } from '@tocsin/runtime';
import type { CustomFieldDefinition } from '@tocsin/contracts';
import type { Configuration } from '../../domain/configuration.ts';
import type { CustomPredicate } from '../../domain/custom-filter.ts';
import type { Conversion } from '../../domain/exchange.ts';
import type { ListFilters } from '../../domain/list-filters.ts';
import type { Direction, ListSort } from '../../domain/list-sort.ts';

/** A service of the catalog, as far as it says something of the incidents that name it. */
export interface CatalogService {
  slug: string;
  tier: string;
  /** The team that its incidents belong to unless they have one of their own; an archived service hands on none. */
  ownerTeamId: number | null;
}

export interface CatalogTeam {
  id: number;
  name: string;
}

/** The sort of a list, with what it takes to carry it out. */
export type ResolvedSort =
  | { key: 'archived_at'; direction: Direction }
  | { key: Exclude<ListSort['key'], 'custom'>; direction: Direction }
  | { key: 'custom'; direction: Direction; field: CustomFieldDefinition };

/** All that a list of incidents is read by. */
export interface ListQuestion {
  workspaceId: number;
  /** The archived incidents, instead of the active ones. */
  archived: boolean;
  filters: ListFilters;
  custom: readonly CustomPredicate[];
  sort: ResolvedSort;
  configuration: Configuration;
  /** The statuses that pass all filters by status; null: any. */
  statuses: readonly string[] | null;
  /** Empty unless filters or sort ask for it. */
  services: readonly CatalogService[];
  /** Empty unless the sort asks for it. */
  teams: readonly CatalogTeam[];
  conversions: readonly Conversion[];
  /** Incidents created before it are not shown, and counted apart; null: all are shown. */
  visibleFrom: Instant | null;
}
