import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import {
  documentReply,
  formerPage,
  formerQuery,
  formerReply,
  newPostmortem,
  postmortemPatch,
  postmortemReply,
} from './wire.ts';

const POSTMORTEM = `${INCIDENT}/postmortem`;
const REVISIONS = `${POSTMORTEM}/revisions`;
const document = { status: 200, body: documentReply, versioned: true } as const;

/** contract: Post-mortems */
export const postmortemContracts = {
  getIncidentPostmortem: {
    ...endpoint('GET', POSTMORTEM, 'Get the post-mortem of an incident'),
    tag: 'Incidents',
    ...read,
    params,
    cost: { base: 10 },
    markdown: true,
    html: true,
    reply: { status: 200, body: postmortemReply },
  },
  createIncidentPostmortem: {
    ...endpoint('POST', POSTMORTEM, 'Begin the post-mortem of an incident'),
    tag: 'Incidents',
    ...write,
    params,
    idempotent: true,
    body: newPostmortem,
    bodyOptional: true,
    reply: { ...document, status: 201, resource: `${INCIDENT.replace('{id}', '{document.incident_id}')}/postmortem` },
  },
  updateIncidentPostmortem: {
    ...endpoint('PATCH', POSTMORTEM, 'Update the post-mortem of an incident'),
    tag: 'Incidents',
    ...write,
    params,
    precondition: true,
    body: postmortemPatch,
    reply: document,
  },
  listIncidentPostmortemRevisions: {
    ...endpoint('GET', REVISIONS, 'List the former revisions of a post-mortem'),
    tag: 'Incidents',
    ...read,
    params,
    query: formerQuery,
    reply: { status: 200, body: formerPage },
  },
  getIncidentPostmortemRevision: {
    ...endpoint('GET', `${REVISIONS}/{revision}`, 'Get a former revision of a post-mortem'),
    tag: 'Incidents',
    ...read,
    params: params.extend({ revision: pathId.meta({ description: 'A revision of the post-mortem' }) }),
    reply: { status: 200, body: formerReply },
  },
} as const satisfies Contracts;

export type PostmortemApi = Handlers<typeof postmortemContracts>;
