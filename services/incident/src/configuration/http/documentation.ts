import type { Documentation } from '@tocsin/http';
import { DEFAULT_CONFIGURATION } from '../domain/configuration.ts';
import { severityView, workflowStatusView } from '../domain/configuration-document.ts';
import type { configurationContracts } from './contracts.ts';

/** contract: Configuration */
export const configurationOperations: Documentation<typeof configurationContracts> = {
  listWorkflowStatuses: {
    description: 'Returns the statuses that incidents of the workspace can have, in their order.',
    reply: { workflow_statuses: DEFAULT_CONFIGURATION.statuses.map(workflowStatusView) },
  },
  listSeverities: {
    description: 'Returns the severities that incidents of the workspace can have, the highest first.',
    reply: { severities: DEFAULT_CONFIGURATION.severities.map(severityView) },
  },
  listIncidentRoles: {
    description:
      'Returns the roles that people can have in the response to an incident, beside its manager and responders.',
    reply: {
      incident_roles: [
        { key: 'communications', label: 'Communications', description: 'Writes to customers', several_holders: false },
      ],
    },
  },
};
