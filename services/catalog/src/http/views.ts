import type { Member, Membership } from '../domain/member.ts';
import type { Service } from '../domain/service.ts';
import type { Team } from '../domain/team.ts';
import { SERVICE_COLUMNS } from '../store/service-store.ts';
import { TEAM_COLUMNS } from '../store/team-store.ts';
import type { MembershipWire, MemberWire, ServiceWire, TeamWire } from './wire.ts';

/** The representation of a service in responses. */
export function serviceView({ owner, ...service }: Service): ServiceWire {
  const { observability_names: names, ...wire } = SERVICE_COLUMNS.toWire(service) as ServiceWire;
  return {
    ...wire,
    ...(names !== undefined && names.length > 0 && { observability_names: names }),
    ...(owner !== null && { owner_team_name: owner.name, owner_team_slug: owner.slug }),
  };
}

/** The representation of a team in responses. */
export const teamView = (team: Team): TeamWire => TEAM_COLUMNS.toWire(team) as TeamWire;

/** The representation of a member in responses. */
export function memberView(member: Member): MemberWire {
  return {
    user_id: member.userId,
    name: member.name,
    email: member.email,
    role: member.role,
    created_at: member.createdAt,
    updated_at: member.updatedAt,
  };
}

export const membershipView = (membership: Membership): MembershipWire => ({
  user_id: membership.userId,
  team_id: membership.teamId,
  team_name: membership.teamName,
  ...(membership.teamArchivedAt !== null && { team_archived_at: membership.teamArchivedAt }),
  role: membership.role,
});
