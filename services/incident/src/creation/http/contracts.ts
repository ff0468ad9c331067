import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { create, INCIDENTS } from '../../incidents/http/contracts.ts';
import { newIncident, newIncidentReply } from './wire.ts';

/** contract: Incidents, Timeline imports */
export const creationContracts = {
  createIncident: {
    ...endpoint('POST', INCIDENTS, 'Create an incident'),
    tag: 'Incidents',
    ...create,
    idempotent: true,
    // A value of an archived field.
    errors: ['invalid_resource_state'],
    // The document of a timeline import may take ten seconds, after the create itself.
    deadline: 25_000,
    body: newIncident,
    reply: {
      status: 201,
      body: newIncidentReply,
      versioned: true,
      assigned: ['incident.id', 'incident.human_id', 'source_timeline_import'],
      resource: `${INCIDENTS}/{incident.id}`,
    },
  },
} as const satisfies Contracts;

export type CreationApi = Handlers<typeof creationContracts>;
