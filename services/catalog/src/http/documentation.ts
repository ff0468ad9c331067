import type { Documentation } from '@tocsin/http';
import type { contracts } from './contracts.ts';
import type { OnCallWire } from './on-call-wire.ts';
import type { MemberWire, ServiceWire, TeamWire } from './wire.ts';

const times = { created_at: '2026-11-02T08:00:00.000Z', updated_at: '2026-11-19T16:20:00.000Z' };
const ARCHIVED_AT = '2026-11-25T10:00:00.000Z';

const service: ServiceWire = {
  id: 1,
  revision: 1,
  company_id: 1,
  name: 'Checkout',
  slug: 'checkout',
  description: 'Takes the money',
  owner_team_id: 1,
  owner_team_name: 'Payments',
  owner_team_slug: 'payments',
  tier: 't0',
  tags: ['customer-facing'],
  observability_names: [],
  ...times,
};

const team: TeamWire = {
  id: 1,
  revision: 1,
  company_id: 1,
  name: 'Payments',
  slug: 'payments',
  description: 'Everything between the basket and the receipt',
  member_count: 0,
  ...times,
};

const member: MemberWire = {
  user_id: 1,
  name: 'Demo Owner',
  email: 'demo@acme.example',
  role: 'lead',
  ...times,
};

/** `Reports` of the sample workspace. */
const reports: ServiceWire = {
  ...service,
  id: 3,
  name: 'Reports',
  slug: 'reports',
  description: 'Counts what happened',
  owner_team_id: 2,
  owner_team_name: 'Platform',
  owner_team_slug: 'platform',
  tier: 't3',
  tags: [],
};

const params = { id: service.id };
const teamParams = { id: team.id };
const memberParams = { id: team.id, userId: member.user_id };
const pagination = { limit: 50, has_more: false };

const NOBODY: OnCallWire = {
  ...{ source: null, url: '', schedule_id: null, fetched_at: null, failure: null, now: [], next: [] },
};

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
    body: { name: 'Billing', slug: 'billing', owner_team_id: 1, tier: 't1', tags: ['customer-facing'] },
    reply: { service: { ...service, id: 4, name: 'Billing', slug: 'billing', description: '', tier: 't1' } },
  },
  getService: { description: 'Returns a service, archived ones included.', params, reply: { service } },
  updateService: {
    description:
      'Changes the properties that the body contains; null clears a property. `If-Service-Resource-Version` must be the current revision.',
    params,
    revision: 1,
    body: { observability_names: ['checkout-api'], description: null },
    reply: { service: { ...service, revision: 2, observability_names: ['checkout-api'], description: '' } },
  },
  archiveService: {
    description: 'Archives a service. It keeps its slug and its owner, and incidents keep referring to it.',
    params: { id: reports.id },
    reply: { service: { ...reports, revision: 2, archived_at: ARCHIVED_AT } },
  },
  restoreService: {
    description: 'Restores an archived service. The team that owns it must be active.',
    params: { id: reports.id },
    reply: { service: { ...reports, revision: 3 } },
  },

  listTeams: {
    description: 'Returns the teams, ordered by name, then by ID.',
    reply: { teams: [team], pagination },
  },
  createTeam: {
    description:
      'Creates a team; only `name` is required. The slug is permanent; without one, Tocsin makes it from the name. Teams form a forest of at most 32 levels. Send an `Idempotency-Key`, so that a repeated request does not create a second team.',
    body: { name: 'Customer care', slug: 'customer_care', description: 'Answers the customers' },
    reply: {
      team: { ...team, id: 3, name: 'Customer care', slug: 'customer_care', description: 'Answers the customers' },
    },
  },
  getTeam: { description: 'Returns a team, archived ones included.', params: teamParams, reply: { team } },
  updateTeam: {
    description:
      'Changes the properties that the body contains; null clears a property. `If-Service-Resource-Version` must be the current revision. A parent that would make a cycle is refused.',
    params: teamParams,
    revision: 1,
    body: { parent_team_id: 2 },
    reply: { team: { ...team, revision: 2, parent_team_id: 2 } },
  },
  archiveTeam: {
    description: 'Archives a team. Its services and child teams keep referring to it.',
    params: teamParams,
    reply: { team: { ...team, revision: 3, parent_team_id: 2, archived_at: ARCHIVED_AT } },
  },
  restoreTeam: {
    description: 'Restores an archived team. Its parent must be active.',
    params: teamParams,
    reply: { team: { ...team, revision: 4, parent_team_id: 2 } },
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
  listTeamMemberships: {
    description: 'Returns which teams the users are members of, archived teams included.',
    reply: {
      memberships: [{ user_id: member.user_id, team_id: team.id, team_name: team.name, role: member.role }],
      pagination,
    },
  },

  getTeamOnCall: {
    description:
      'Returns who is on call for the team, until when, and who is next, as it was read from its source at most ten minutes ago, or longer if that fails.',
    params: teamParams,
    reply: { on_call: NOBODY },
  },
  setTeamOnCall: {
    description:
      'Sets the calendar or the schedule that says who is on call for the team, and reads it at once. A source that cannot be read is refused. The same request again reads it again.',
    params: teamParams,
    body: { kind: 'icalendar', url: 'https://schedules.example/payments.ics?token=3f2c' },
    reply: {
      on_call: {
        ...{ source: 'icalendar', url: 'https://schedules.example', schedule_id: null },
        ...{ fetched_at: '2026-11-24T10:00:00.000Z', failure: null },
        now: [
          {
            ...{ user_id: 1, name: 'Demo Owner', email: 'demo@acme.example' },
            ...{ from: '2026-11-23T09:00:00.000Z', until: '2026-11-30T09:00:00.000Z' },
          },
        ],
        next: [
          {
            ...{ user_id: null, name: 'Ana Lopez', email: null },
            ...{ from: '2026-11-30T09:00:00.000Z', until: '2026-12-07T09:00:00.000Z' },
          },
        ],
      },
    },
  },
  removeTeamOnCall: {
    description: 'Forgets the source of who is on call for the team; nothing happens if it has none.',
    params: teamParams,
  },

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
