import type { Resource } from '@tocsin/resources';

/** The properties that a client sets in a create or a PATCH. Null means that there is no value. */
export interface ServiceProperties {
  name: string;
  description: string | null;
  ownerTeamId: number | null;
  tier: string;
  tags: readonly string[];
  externalId: string | null;
  observabilityNames: readonly string[];
}

/** The team that owns a service; it may be archived. */
export interface OwnerTeam {
  id: number;
  name: string;
  slug: string;
}

/** A stored service with its owner (contract: Catalog). */
export interface Service extends ServiceProperties, Resource {
  id: number;
  workspaceId: number;
  slug: string;
  owner: OwnerTeam | null;
}

/** A service that has no ID yet. */
export type NewService = Omit<Service, 'id'>;
