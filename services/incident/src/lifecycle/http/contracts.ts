import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { create, INCIDENT, params, write } from '../../incidents/http/contracts.ts';
import { incidentReply } from '../../incidents/http/wire.ts';
import { archiveRequest, closeRequest, reopenRequest, resolveRequest, transitionReply } from './wire.ts';

const incident = { status: 200, body: incidentReply, versioned: true } as const;
/** The body may name the expected revision. */
const operation = (verb: string, summary: string) =>
  ({
    ...endpoint('POST', `${INCIDENT}/${verb}`, summary),
    tag: 'Incidents',
    ...write,
    params,
    bodyOptional: true,
    errors: ['precondition_failed', 'invalid_resource_state'],
  }) as const;
const transitioned = {
  status: 200,
  body: transitionReply,
  versioned: true,
  assigned: ['timeline_event.id'],
} as const;

/** contract: Lifecycle */
export const lifecycleContracts = {
  resolveIncident: { ...operation('resolve', 'Resolve an incident'), body: resolveRequest, reply: transitioned },
  closeIncident: {
    ...operation('close', 'Close an incident without a resolution'),
    body: closeRequest,
    reply: transitioned,
  },
  reopenIncident: {
    ...operation('reopen', 'Reopen a resolved or closed incident'),
    body: reopenRequest,
    reply: transitioned,
  },
  archiveIncident: { ...operation('archive', 'Archive an incident'), body: archiveRequest, reply: incident },
  restoreIncident: {
    ...operation('restore', 'Restore an archived incident'),
    needs: create.needs,
    body: archiveRequest,
    reply: incident,
  },
} as const satisfies Contracts;

export type LifecycleApi = Handlers<typeof lifecycleContracts>;
