import type { Resource } from '@tocsin/resources';

/** The properties that a client sets in a create or a PATCH. Null means that there is no value. */
export interface TeamProperties {
  name: string;
  description: string | null;
  parentTeamId: number | null;
  externalId: string | null;
}

/** A stored team (contract: Catalog). */
export interface Team extends TeamProperties, Resource {
  id: number;
  workspaceId: number;
  slug: string;
  /** The number of members who are active users. */
  memberCount: number;
}

/** A team that has no ID yet. */
export type NewTeam = Omit<Team, 'id'>;
