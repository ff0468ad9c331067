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
};
