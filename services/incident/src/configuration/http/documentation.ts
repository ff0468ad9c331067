import type { Documentation } from '@tocsin/http';
import type { configurationContracts } from './contracts.ts';

/** contract: Configuration */
export const configurationOperations: Documentation<typeof configurationContracts> = {
  listWorkflowStatuses: {
    description: 'Returns the statuses that incidents of the workspace can have, in their order.',
    reply: {
      workflow_statuses: [
        {
          key: 'open',
          label: 'Open',
          order: 0,
          is_default: true,
          is_terminal: false,
          is_escalation_threshold: false,
          color: '#d92d20',
        },
        {
          key: 'resolved',
          label: 'Resolved',
          order: 4,
          is_default: false,
          is_terminal: true,
          is_escalation_threshold: false,
          color: '#12b76a',
        },
      ],
    },
  },
  listSeverities: {
    description: 'Returns the severities that incidents of the workspace can have, the highest first.',
    reply: {
      severities: [
        {
          key: 'sev1',
          label: 'SEV 1',
          order: 0,
          is_default: false,
          min_score: 90,
          description: 'Customers cannot use the product',
          color: '#d92d20',
        },
      ],
    },
  },
};
