import type { TeamSnapshot } from '@tocsin/schemas';
import type { SlugRule, StoredResource } from '@tocsin/versioned-resources';

/** The properties that a client sets in a create or a PATCH. Null means that there is no value. */
export interface TeamProperties {
  name: string;
  description: string | null;
  parentTeamId: number | null;
  externalId: string | null;
}

/** A stored team (contract: Catalog). */
export interface Team extends TeamProperties, StoredResource {
  name: string;
  externalId: string | null;
  /** The number of members who are active users. */
  memberCount: number;
}

/** A team that has no ID yet. */
export type NewTeam = Omit<Team, 'id'>;

export const TEAM_SLUG: SlugRule = {
  pattern: /^[a-z][a-z0-9_]*$/,
  firstCharacter: /[a-z]/,
  separators: /[^a-z0-9]+/g,
  normalization: 'NFC',
};

/** The form of a team in events and replicas (contract: Events on the broker). */
export function teamSnapshot(team: Team): TeamSnapshot {
  return {
    id: team.id,
    revision: team.revision,
    name: team.name,
    slug: team.slug,
    parent_team_id: team.parentTeamId,
    archived_at: team.archivedAt,
  };
}
