import type { Dependencies } from '../../dependencies.ts';
import { severityView, workflowStatusView } from '../../incidents/http/views.ts';
import type { IncidentApi } from '../../http/contracts.ts';

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
