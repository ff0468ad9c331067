import { type Contracts, endpoint, type Handlers, pageQuery } from '@tocsin/http';
import { z } from 'zod';
import { changelogPage } from './changelog-wire.ts';
import { INCIDENT, params, read, write } from './contract-parts.ts';
import { incidentPatch, incidentReply } from './wire.ts';

const incident = { status: 200, body: incidentReply, versioned: true } as const;

/** contract: Incidents */
export const incidentContracts = {
  getIncident: { ...endpoint('GET', INCIDENT, 'Get an incident'), tag: 'Incidents', ...read, params, reply: incident },
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
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: changelogPage },
  },
} as const satisfies Contracts;

export type ChangelogApi = Handlers<typeof changelogContracts>;
