import type { Configurations } from '../store/configuration-store.ts';
import { severityView, workflowStatusView } from '../domain/configuration-document.ts';
import type { ConfigurationApi } from './contracts.ts';

export const configurationHandlers = ({ configurations }: { configurations: Configurations }): ConfigurationApi => ({
  listWorkflowStatuses: async ({ principal }) => {
    const { statuses } = await configurations.get(principal.workspace);
    return { body: { workflow_statuses: statuses.map(workflowStatusView) } };
  },

  listSeverities: async ({ principal }) => {
    const { severities } = await configurations.get(principal.workspace);
    return { body: { severities: severities.map(severityView) } };
  },
});
