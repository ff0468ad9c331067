import type { Resource } from './archiving.ts';

/** What a client sets at creation or by PATCH. Null means "none". */
export interface TeamProperties {
  name: string;
  description: string | null;
  parentTeamId: number | null;
}

/** A team as it is kept (contract: Catalog). */
export interface Team extends TeamProperties, Resource {
  id: number;
  workspaceId: number;
  slug: string;
  /** Its members who are active users. */
  memberCount: number;
}

/** A team before the database has given it its ID. */
export type NewTeam = Omit<Team, 'id'>;
