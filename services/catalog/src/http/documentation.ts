import type { Documentation } from '@tocsin/http';
import type { contracts } from './contracts.ts';
import type { MemberWire, ServiceWire, TeamWire } from './wire.ts';

const times = { created_at: '2026-11-02T08:00:00.000Z', updated_at: '2026-11-19T16:20:00.000Z' };
const ARCHIVED_AT = '2026-11-25T10:00:00.000Z';

const service: ServiceWire = {
  id: 5,
  revision: 2,
  company_id: 1,
  name: 'Checkout',
  slug: 'checkout',
  description: 'Carts, payments and receipts',
  owner_team_id: 3,
  owner_team_name: 'Payments',
  owner_team_slug: 'payments',
  tier: 't1',
  tags: ['payments'],
  observability_names: ['checkout-api'],
  ...times,
};

const team: TeamWire = {
  id: 3,
  revision: 1,
  company_id: 1,
  name: 'Payments',
  slug: 'payments',
  description: 'Everything that moves money',
  member_count: 4,
  ...times,
};

const member: MemberWire = {
  user_id: 42,
  name: 'Ada Lovelace',
  email: 'ada@acme.example',
  role: 'lead',
  ...times,
};

const params = { id: service.id };
const teamParams = { id: team.id };
const memberParams = { id: team.id, userId: member.user_id };
const pagination = { limit: 50, has_more: false };

/** Descriptions and examples of the catalog's operations, for the API description (contract: Catalog). */
export const documentation: Documentation<typeof contracts> = {
  listServices: {
    description:
      'Returns the services, ordered by the rank of their tier, then by name. The first page also has the `service` values of incidents that match no service of the catalog.',
    reply: {
      services: [service],
      unmanaged_references: [{ value: 'chekout', incident_count: 2 }],
      unmanaged_references_truncated: false,
      pagination,
    },
  },
  createService: {
    description:
      'Creates a service; only `name` is required. The slug is permanent; without one, Tocsin makes it from the name. Send an `Idempotency-Key`, so that a repeated request does not create a second service.',
    body: { name: 'Checkout', slug: 'checkout', owner_team_id: 3, tier: 't1', tags: ['payments'] },
    reply: { service: { ...service, revision: 1 } },
  },
  getService: { description: 'Returns a service, archived ones included.', params, reply: { service } },
  updateService: {
    description:
      'Changes the properties that the body contains; null clears a property. `If-Service-Resource-Version` must be the current revision.',
    params,
    body: { tier: 't0', description: null },
    reply: { service: { ...service, revision: 3, tier: 't0' } },
  },
  archiveService: {
    description: 'Archives a service. It keeps its slug and its owner, and incidents keep referring to it.',
    params,
    reply: { service: { ...service, revision: 3, archived_at: ARCHIVED_AT } },
  },
  restoreService: {
    description: 'Restores an archived service. The team that owns it must be active.',
    params,
    reply: { service: { ...service, revision: 4 } },
  },

  listTeams: {
    description: 'Returns the teams, ordered by name, then by ID.',
    reply: { teams: [team], pagination },
  },
  createTeam: {
    description:
      'Creates a team; only `name` is required. The slug is permanent; without one, Tocsin makes it from the name. Teams form a forest of at most 32 levels. Send an `Idempotency-Key`, so that a repeated request does not create a second team.',
    body: { name: 'Payments', slug: 'payments', description: 'Everything that moves money' },
    reply: { team },
  },
  getTeam: { description: 'Returns a team, archived ones included.', params: teamParams, reply: { team } },
  updateTeam: {
    description:
      'Changes the properties that the body contains; null clears a property. `If-Service-Resource-Version` must be the current revision. A parent that would make a cycle is refused.',
    params: teamParams,
    body: { parent_team_id: 2 },
    reply: { team: { ...team, revision: 2, parent_team_id: 2 } },
  },
  archiveTeam: {
    description: 'Archives a team. Its services and child teams keep referring to it.',
    params: teamParams,
    reply: { team: { ...team, revision: 2, archived_at: ARCHIVED_AT } },
  },
  restoreTeam: {
    description: 'Restores an archived team. Its parent must be active.',
    params: teamParams,
    reply: { team: { ...team, revision: 3 } },
  },

  listTeamMembers: {
    description: 'Returns the members of a team who are active users.',
    params: teamParams,
    reply: { members: [member], pagination },
  },
  addTeamMember: {
    description: "Adds an active user to a team. The team's revision does not change.",
    params: teamParams,
    body: { user_id: member.user_id, role: 'lead' },
    reply: { member },
  },
  updateTeamMember: {
    description: 'Changes the role of a member.',
    params: memberParams,
    body: { role: 'member' },
    reply: { member: { ...member, role: 'member' } },
  },
  removeTeamMember: { description: 'Removes a member from a team.', params: memberParams },

  listServiceTiers: {
    description: 'Returns the tiers that services of the workspace can have, in their order.',
    reply: {
      service_tiers: [
        { key: 't0', label: 'Tier 0', order: 0, is_default: false, description: 'The product fails without it' },
        { key: 't2', label: 'Tier 2', order: 2, is_default: true, description: '' },
      ],
    },
  },
};
