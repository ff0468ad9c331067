import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { VIEW_RESTRICTED } from '@tocsin/schemas';
import { z } from 'zod';
import {
  accessPage,
  changelogPage,
  changelogQuery,
  incidentPatch,
  incidentQuery,
  incidentReply,
  readReply,
} from './wire.ts';

// What the contracts of several rooms have in common.

export const INCIDENTS = '/api/v1/incidents';
export const INCIDENT = `${INCIDENTS}/{id}`;

export const params = z.strictObject({ id: pathId.meta({ description: 'ID of the incident' }) });

export const read = { scope: 'incidents:read' } as const;
export const create = { scope: 'incidents:write', needs: ['active_responder'] } as const;
/** Fails while the incident is archived. */
export const write = { scope: 'incidents:write', needs: ['active_responder', 'mutable_incident'] } as const;

const incident = { status: 200, body: incidentReply, versioned: true } as const;

/** contract: Incidents */
export const incidentContracts = {
  getIncident: {
    ...endpoint('GET', INCIDENT, 'Get an incident'),
    tag: 'Incidents',
    ...read,
    params,
    query: incidentQuery,
    cost: { base: 1, parameters: { at_revision: 4 } },
    reply: { ...incident, body: readReply },
  },
  getIncidentByReference: {
    ...endpoint('GET', '/api/v1/incident-references/{reference}', 'Get an incident by its reference'),
    tag: 'Incidents',
    ...read,
    params: z.strictObject({
      reference: z
        .string()
        .min(1)
        .meta({ description: 'The `human_id` of an incident, such as `INC-4`, in any case of letters' }),
    }),
    reply: incident,
  },
  updateIncident: {
    ...endpoint('PATCH', INCIDENT, 'Update an incident'),
    tag: 'Incidents',
    ...write,
    params,
    precondition: true,
    body: incidentPatch,
    reply: incident,
  },
} as const satisfies Contracts;

export type IncidentApi = Handlers<typeof incidentContracts>;

export const changelogContracts = {
  listIncidentChangelog: {
    ...endpoint('GET', `${INCIDENT}/changelog`, 'List the changes of an incident'),
    tag: 'Incidents',
    ...read,
    params,
    query: changelogQuery,
    reply: { status: 200, body: changelogPage },
  },
} as const satisfies Contracts;

export type ChangelogApi = Handlers<typeof changelogContracts>;

/** contract: Restricted incidents */
export const accessContracts = {
  listIncidentAccesses: {
    ...endpoint('GET', `${INCIDENT}/accesses`, 'List who has read a restricted incident'),
    tag: 'Incidents',
    scope: VIEW_RESTRICTED.scope,
    needs: [VIEW_RESTRICTED.permission],
    params,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: accessPage },
  },
} as const satisfies Contracts;

export type AccessApi = Handlers<typeof accessContracts>;
