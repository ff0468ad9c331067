import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { create, INCIDENT, params, write } from '../../incidents/http/contract-parts.ts';
import { incidentReply } from '../../incidents/http/wire.ts';
import { archiveRequest, closeRequest, reopenRequest, resolveRequest, transitionReply } from './wire.ts';

const incident = { status: 200, body: incidentReply, versioned: true } as const;
/** The body may name the expected revision. */
const transition = {
  tag: 'Incidents',
  ...write,
  params,
  bodyOptional: true,
  errors: ['precondition_failed', 'invalid_resource_state'],
} as const;
const transitioned = {
  status: 200,
  body: transitionReply,
  versioned: true,
  assigned: ['timeline_event.id'],
} as const;

/** contract: Lifecycle */
export const lifecycleContracts = {
  resolveIncident: {
    ...endpoint('POST', `${INCIDENT}/resolve`, 'Resolve an incident'),
    ...transition,
    body: resolveRequest,
    reply: transitioned,
  },
  closeIncident: {
    ...endpoint('POST', `${INCIDENT}/close`, 'Close an incident without a resolution'),
    ...transition,
    body: closeRequest,
    reply: transitioned,
  },
  reopenIncident: {
    ...endpoint('POST', `${INCIDENT}/reopen`, 'Reopen a resolved or closed incident'),
    ...transition,
    body: reopenRequest,
    reply: transitioned,
  },
  archiveIncident: {
    ...endpoint('POST', `${INCIDENT}/archive`, 'Archive an incident'),
    ...transition,
    body: archiveRequest,
    reply: incident,
  },
  restoreIncident: {
    ...endpoint('POST', `${INCIDENT}/restore`, 'Restore an archived incident'),
    ...transition,
    needs: create.needs,
    body: archiveRequest,
    reply: incident,
  },
} as const satisfies Contracts;

export type LifecycleApi = Handlers<typeof lifecycleContracts>;
