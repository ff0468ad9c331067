import type { Dependencies } from '../usecases/context.ts';
import { severityView, workflowStatusView } from './views.ts';
import type { IncidentApi } from './contracts.ts';

export const configurationHandlers = ({
  dependencies,
}: {
  dependencies: Dependencies;
}): Pick<IncidentApi, 'listWorkflowStatuses' | 'listSeverities'> => ({
  listWorkflowStatuses: async ({ principal }) => {
    const { statuses } = await dependencies.configurations.get(principal.workspace);
    return { body: { workflow_statuses: statuses.map(workflowStatusView) } };
  },

  listSeverities: async ({ principal }) => {
    const { severities } = await dependencies.configurations.get(principal.workspace);
    return { body: { severities: severities.map(severityView) } };
  },
});
