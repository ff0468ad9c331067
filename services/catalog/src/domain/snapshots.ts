import type { ServiceSnapshot, TeamSnapshot } from '@tocsin/contracts';
import type { Service } from './service.ts';
import type { Team } from './team.ts';

/** The form of a service in events and replicas (contract: Events on the broker). */
export function serviceSnapshot(service: Service): ServiceSnapshot {
  return {
    id: service.id,
    revision: service.revision,
    name: service.name,
    slug: service.slug,
    tier: service.tier,
    owner_team_id: service.ownerTeamId,
    archived_at: service.archivedAt,
  };
}

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
