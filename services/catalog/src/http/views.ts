import type { Member } from '../domain/member.ts';
import type { Service } from '../domain/service.ts';
import type { Team } from '../domain/team.ts';
import type { ServiceTier } from '../domain/tiers.ts';
import type { MemberWire, ServiceTierWire, ServiceWire, TeamWire } from './wire.ts';

/** The representation of a service in responses. */
export function serviceView(service: Service): ServiceWire {
  const { owner } = service;
  return {
    id: service.id,
    revision: service.revision,
    company_id: service.workspaceId,
    name: service.name,
    slug: service.slug,
    ...(service.description !== null && { description: service.description }),
    ...(owner !== null && { owner_team_id: owner.id, owner_team_name: owner.name, owner_team_slug: owner.slug }),
    tier: service.tier,
    tags: [...service.tags],
    ...(service.externalId !== null && { external_id: service.externalId }),
    ...(service.observabilityNames.length > 0 && { observability_names: [...service.observabilityNames] }),
    created_at: service.createdAt,
    updated_at: service.updatedAt,
    ...(service.archivedAt !== null && { archived_at: service.archivedAt }),
  };
}

/** The representation of a team in responses. */
export function teamView(team: Team): TeamWire {
  return {
    id: team.id,
    revision: team.revision,
    company_id: team.workspaceId,
    name: team.name,
    slug: team.slug,
    ...(team.description !== null && { description: team.description }),
    ...(team.parentTeamId !== null && { parent_team_id: team.parentTeamId }),
    ...(team.externalId !== null && { external_id: team.externalId }),
    member_count: team.memberCount,
    created_at: team.createdAt,
    updated_at: team.updatedAt,
    ...(team.archivedAt !== null && { archived_at: team.archivedAt }),
  };
}

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

export function serviceTierView(tier: ServiceTier): ServiceTierWire {
  return {
    key: tier.key,
    label: tier.label,
    order: tier.order,
    is_default: tier.isDefault,
    description: tier.description,
  };
}
