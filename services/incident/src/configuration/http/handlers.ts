import type { Dependencies } from '../../dependencies.ts';
import { severityView, workflowStatusView } from '../domain/configuration-document.ts';
import type { ConfigurationApi } from './contracts.ts';

export const configurationHandlers = (dependencies: Dependencies): ConfigurationApi => ({
  listWorkflowStatuses: async ({ principal }) => {
    const { statuses } = await dependencies.configurations.get(principal.workspace);
    return { body: { workflow_statuses: statuses.map(workflowStatusView) } };
  },

  listSeverities: async ({ principal }) => {
    const { severities } = await dependencies.configurations.get(principal.workspace);
    return { body: { severities: severities.map(severityView) } };
  },
});
