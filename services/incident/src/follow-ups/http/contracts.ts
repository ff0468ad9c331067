import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import { followUpPage, followUpPatch, followUpQuery, followUpReply, newFollowUp } from './wire.ts';

const OF_INCIDENT = `${INCIDENT}/follow-ups`;
const FOLLOW_UPS = '/api/v1/follow-ups';
const FOLLOW_UP = `${FOLLOW_UPS}/{id}`;
const followUpParams = z.strictObject({ id: pathId.meta({ description: 'ID of the follow-up' }) });
const followUp = { status: 200, body: followUpReply, versioned: true } as const;

/** contract: Follow-ups */
export const followUpContracts = {
  listFollowUps: {
    ...endpoint('GET', FOLLOW_UPS, 'List the follow-ups of all incidents'),
    tag: 'Follow-ups',
    ...read,
    query: followUpQuery,
    cost: { base: 2, parameters: { q: 4, service: 4, team_id: 4 } },
    reply: { status: 200, body: followUpPage },
  },
  listIncidentFollowUps: {
    ...endpoint('GET', OF_INCIDENT, 'List the follow-ups of an incident'),
    tag: 'Follow-ups',
    ...read,
    params,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: followUpPage },
  },
  createFollowUp: {
    ...endpoint('POST', OF_INCIDENT, 'Create a follow-up'),
    tag: 'Follow-ups',
    ...write,
    params,
    idempotent: true,
    body: newFollowUp,
    reply: { ...followUp, status: 201, assigned: ['follow_up.id'], resource: `${FOLLOW_UPS}/{follow_up.id}` },
  },
  getFollowUp: {
    ...endpoint('GET', FOLLOW_UP, 'Get a follow-up'),
    tag: 'Follow-ups',
    ...read,
    params: followUpParams,
    reply: followUp,
  },
  updateFollowUp: {
    ...endpoint('PATCH', FOLLOW_UP, 'Update a follow-up'),
    tag: 'Follow-ups',
    ...write,
    params: followUpParams,
    precondition: true,
    body: followUpPatch,
    reply: followUp,
  },
  deleteFollowUp: {
    ...endpoint('DELETE', FOLLOW_UP, 'Delete a follow-up'),
    tag: 'Follow-ups',
    ...write,
    params: followUpParams,
    reply: { status: 204 },
  },
} as const satisfies Contracts;

export type FollowUpApi = Handlers<typeof followUpContracts>;
