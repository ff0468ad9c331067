import type { Dependencies } from '../../dependencies.ts';
import type { Severity, WorkflowStatus } from '../domain/configuration.ts';
import type { ConfigurationApi } from './contracts.ts';

export const configurationHandlers = ({ dependencies }: { dependencies: Dependencies }): ConfigurationApi => ({
  listWorkflowStatuses: async ({ principal }) => {
    const { statuses } = await dependencies.configurations.get(principal.workspace);
    return { body: { workflow_statuses: statuses.map(workflowStatusView) } };
  },

  listSeverities: async ({ principal }) => {
    const { severities } = await dependencies.configurations.get(principal.workspace);
    return { body: { severities: severities.map(severityView) } };
  },
});

function workflowStatusView(status: WorkflowStatus) {
  return {
    key: status.key,
    label: status.label,
    order: status.order,
    is_default: status.isDefault,
    is_terminal: status.isTerminal,
    is_escalation_threshold: status.isEscalationThreshold,
    color: status.color,
  };
}

function severityView(severity: Severity) {
  return {
    key: severity.key,
    label: severity.label,
    order: severity.order,
    is_default: severity.isDefault,
    min_score: severity.minScore,
    description: severity.description,
    color: severity.color,
  };
}
