import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { incidentRolesReply, severitiesReply, workflowStatusesReply } from './wire.ts';

const read = { scope: 'incidents:read' } as const;

/** contract: Configuration */
export const configurationContracts = {
  listWorkflowStatuses: {
    ...endpoint('GET', '/api/v1/configuration/workflow-statuses', 'List workflow statuses'),
    tag: 'Configuration',
    ...read,
    reply: { status: 200, body: workflowStatusesReply },
  },
  listSeverities: {
    ...endpoint('GET', '/api/v1/configuration/severities', 'List severities'),
    tag: 'Configuration',
    ...read,
    reply: { status: 200, body: severitiesReply },
  },
  listIncidentRoles: {
    ...endpoint('GET', '/api/v1/configuration/incident-roles', 'List incident roles'),
    tag: 'Configuration',
    ...read,
    reply: { status: 200, body: incidentRolesReply },
  },
} as const satisfies Contracts;

export type ConfigurationApi = Handlers<typeof configurationContracts>;
