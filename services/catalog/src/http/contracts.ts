import { boundedText, MAX_KEY, MAX_SEARCHED_TEXT } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { resourceListQuery } from '@tocsin/versioned-resources';
import { z } from 'zod';
import { newOnCallSource, onCallReply } from './on-call-wire.ts';
import {
  memberPage,
  memberPatch,
  memberReply,
  membershipPage,
  newMember,
  newService,
  newTeam,
  servicePage,
  servicePatch,
  serviceReply,
  serviceTiersReply,
  teamPage,
  teamPatch,
  teamReply,
} from './wire.ts';

const SERVICES = '/api/v1/services';
const SERVICE = `${SERVICES}/{id}`;
const TEAMS = '/api/v1/teams';
const TEAM = `${TEAMS}/{id}`;
const MEMBERS = `${TEAM}/members`;
const MEMBER = `${MEMBERS}/{userId}`;
const MEMBERSHIPS = '/api/v1/team-memberships';
const ON_CALL = `${TEAM}/on-call`;

const readServices = { tag: 'Services', scope: 'services:read' } as const;
const writeServices = {
  tag: 'Services',
  scope: 'services:write',
  needs: ['active_responder', 'manage_settings'],
} as const;
const readTeams = { tag: 'Teams', scope: 'teams:read' } as const;
const writeTeams = { tag: 'Teams', scope: 'teams:write', needs: ['active_responder', 'manage_teams'] } as const;
const serviceParams = z.strictObject({ id: pathId.meta({ description: 'ID of the service' }) });
const teamParams = z.strictObject({ id: pathId.meta({ description: 'ID of the team' }) });
const memberParams = teamParams.extend({ userId: pathId.meta({ description: 'ID of the user' }) });
const listServicesQuery = resourceListQuery.extend({
  q: boundedText(MAX_SEARCHED_TEXT)
    .refine((text) => text.trim() !== '', 'Must not be blank')
    .optional()
    .meta({ description: 'A part of the name or of the slug, in any case of letters; default: any' }),
  owner_team_id: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'ID of the team that owns the service; an unknown one matches nothing; default: any' }),
  tier: z
    .array(boundedText(MAX_KEY))
    .max(100)
    .optional()
    .meta({ description: 'Keys of service tiers, of which a service must have one; default: any' }),
});
const membershipQuery = z.strictObject({
  ...pageQuery,
  user_id: z
    .array(z.int().min(1))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'IDs of 1 to 100 users; unknown and deactivated ones are in no team; default: the caller' }),
});
const created = { idempotent: true, errors: ['duplicate_slug', 'invalid_resource_state'] } as const;
/** Fails while the resource is archived. */
const mutable = { errors: ['invalid_resource_state'] } as const;
const restored = { errors: ['invalid_resource_state', 'invalid_relationship_state'] } as const;
const service = { status: 200, body: serviceReply, versioned: true } as const;
const team = { status: 200, body: teamReply, versioned: true } as const;
const member = { status: 200, body: memberReply } as const;

/** The API of the catalog service (contract: Catalog). */
export const contracts = {
  listServices: {
    ...endpoint('GET', SERVICES, 'List services'),
    ...readServices,
    query: listServicesQuery,
    cost: { base: 2, parameters: { q: 4 } },
    reply: { status: 200, body: servicePage },
  },
  createService: {
    ...endpoint('POST', SERVICES, 'Create a service'),
    ...writeServices,
    ...created,
    body: newService,
    reply: { ...service, status: 201, assigned: ['service.id'], resource: `${SERVICES}/{service.id}` },
  },
  getService: { ...endpoint('GET', SERVICE, 'Get a service'), ...readServices, params: serviceParams, reply: service },
  updateService: {
    ...endpoint('PATCH', SERVICE, 'Update a service'),
    ...writeServices,
    ...mutable,
    params: serviceParams,
    precondition: true,
    body: servicePatch,
    reply: service,
  },
  archiveService: {
    ...endpoint('DELETE', SERVICE, 'Archive a service'),
    ...writeServices,
    ...mutable,
    params: serviceParams,
    reply: service,
  },
  restoreService: {
    ...endpoint('POST', `${SERVICE}/restore`, 'Restore an archived service'),
    ...writeServices,
    ...restored,
    params: serviceParams,
    reply: service,
  },

  listTeams: {
    ...endpoint('GET', TEAMS, 'List teams'),
    ...readTeams,
    query: resourceListQuery,
    reply: { status: 200, body: teamPage },
  },
  createTeam: {
    ...endpoint('POST', TEAMS, 'Create a team'),
    ...writeTeams,
    ...created,
    body: newTeam,
    reply: { ...team, status: 201, assigned: ['team.id'], resource: `${TEAMS}/{team.id}` },
  },
  getTeam: { ...endpoint('GET', TEAM, 'Get a team'), ...readTeams, params: teamParams, reply: team },
  updateTeam: {
    ...endpoint('PATCH', TEAM, 'Update a team'),
    ...writeTeams,
    ...mutable,
    params: teamParams,
    precondition: true,
    body: teamPatch,
    reply: team,
  },
  archiveTeam: {
    ...endpoint('DELETE', TEAM, 'Archive a team'),
    ...writeTeams,
    ...mutable,
    params: teamParams,
    reply: team,
  },
  restoreTeam: {
    ...endpoint('POST', `${TEAM}/restore`, 'Restore an archived team'),
    ...writeTeams,
    ...restored,
    params: teamParams,
    reply: team,
  },

  listTeamMembers: {
    ...endpoint('GET', MEMBERS, 'List the members of a team'),
    ...readTeams,
    params: teamParams,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: memberPage },
  },
  addTeamMember: {
    ...endpoint('POST', MEMBERS, 'Add a member to a team'),
    ...writeTeams,
    ...mutable,
    params: teamParams,
    body: newMember,
    reply: { ...member, status: 201 },
  },
  updateTeamMember: {
    ...endpoint('PATCH', MEMBER, 'Update a member of a team'),
    ...writeTeams,
    ...mutable,
    params: memberParams,
    body: memberPatch,
    reply: member,
  },
  removeTeamMember: {
    ...endpoint('DELETE', MEMBER, 'Remove a member from a team'),
    ...writeTeams,
    ...mutable,
    params: memberParams,
    reply: { status: 204 },
  },

  listTeamMemberships: {
    ...endpoint('GET', MEMBERSHIPS, 'List the teams of users'),
    ...readTeams,
    query: membershipQuery,
    cost: { base: 4 },
    reply: { status: 200, body: membershipPage },
  },

  getTeamOnCall: {
    ...endpoint('GET', ON_CALL, 'Get who is on call for a team'),
    ...readTeams,
    params: teamParams,
    reply: { status: 200, body: onCallReply },
  },
  setTeamOnCall: {
    ...endpoint('PUT', ON_CALL, 'Set the source of who is on call for a team'),
    ...writeTeams,
    ...mutable,
    // The source has five seconds, and two to be read.
    deadline: 15_000,
    cost: { base: 20 },
    params: teamParams,
    body: newOnCallSource,
    // Nothing is read.
    reply: { status: 200, body: onCallReply, assigned: ['on_call.fetched_at', 'on_call.now', 'on_call.next'] },
  },
  removeTeamOnCall: {
    ...endpoint('DELETE', ON_CALL, 'Remove the source of who is on call for a team'),
    ...writeTeams,
    ...mutable,
    params: teamParams,
    reply: { status: 204 },
  },

  listServiceTiers: {
    ...endpoint('GET', '/api/v1/configuration/service-tiers', 'List service tiers'),
    tag: 'Configuration',
    scope: 'services:read',
    reply: { status: 200, body: serviceTiersReply },
  },
} as const satisfies Contracts;

export type CatalogApi = Handlers<typeof contracts>;
