import type { Resource } from './archiving.ts';

/** What a client sets at creation or by PATCH. Null means "none". */
export interface ServiceProperties {
  name: string;
  description: string | null;
  ownerTeamId: number | null;
  tier: string;
  tags: readonly string[];
  externalId: string | null;
  observabilityNames: readonly string[];
}

/** The team that a service names as its owner, archived or not. */
export interface OwnerTeam {
  id: number;
  name: string;
  slug: string;
}

/** A service as it is kept, with the names of its owner (contract: Catalog). */
export interface Service extends ServiceProperties, Resource {
  id: number;
  workspaceId: number;
  slug: string;
  owner: OwnerTeam | null;
}

/** A service before the database has given it its ID. */
export type NewService = Omit<Service, 'id'>;
