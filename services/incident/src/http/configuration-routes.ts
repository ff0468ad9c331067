import { route } from '@tocsin/http';
import type { Tools } from '../usecases/context.ts';
import { severityView, workflowStatusView } from './views.ts';
import { severitiesReply, workflowStatusesReply } from './wire.ts';

const lookup = { method: 'get', tag: 'Configuration', scope: 'incidents:read' } as const;

export function configurationRoutes({ tools }: { tools: Tools }) {
  return [
    route({
      ...lookup,
      id: 'listWorkflowStatuses',
      path: '/api/v1/configuration/workflow-statuses',
      summary: "The workspace's incident statuses, in workflow order",
      reply: { status: 200, body: workflowStatusesReply },
      handle: async ({ principal }) => {
        const { statuses } = await tools.configurations.get(principal.workspace);
        return { body: { workflow_statuses: statuses.map(workflowStatusView) } };
      },
    }),
    route({
      ...lookup,
      id: 'listSeverities',
      path: '/api/v1/configuration/severities',
      summary: "The workspace's severities, most severe first",
      reply: { status: 200, body: severitiesReply },
      handle: async ({ principal }) => {
        const { severities } = await tools.configurations.get(principal.workspace);
        return { body: { severities: severities.map(severityView) } };
      },
    }),
  ];
}
