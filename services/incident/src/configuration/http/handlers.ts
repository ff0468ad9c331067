import type { Configurations } from '../store/configuration-store.ts';
import { incidentRoleView, severityView, workflowStatusView } from '../domain/configuration-document.ts';
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

  listIncidentRoles: async ({ principal }) => {
    const { incidentRoles } = await configurations.get(principal.workspace);
    return { body: { incident_roles: incidentRoles.map(incidentRoleView) } };
  },
});
