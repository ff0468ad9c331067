import { pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { nothingRequested, overallStatus, type Provisioning } from '../domain/provisioning.ts';
import { incidentStore } from '../store/incident-store.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Tools } from '../usecases/context.ts';
import { retryProvisioning } from '../usecases/retry-provisioning.ts';
import { provisioningReply, provisioningRetry, type ProvisioningWire } from './chat-wire.ts';

const tag = 'Chat';
const params = z.strictObject({ id: pathId });

export function provisioningRoutes({ tools }: { tools: Tools }) {
  const { database } = tools;
  return [
    route({
      id: 'getIncidentProvisioning',
      method: 'get',
      path: '/api/v1/incidents/{id}/provisioning',
      summary: 'What is set up in the chat for an incident, and how far that has come',
      tag,
      scope: 'incidents:read',
      params,
      reply: { status: 200, body: provisioningReply },
      handle: async ({ principal, params: { id } }) => {
        const incident = await incidentStore(database, principal.workspace.id).get(id);
        const provisioning = (await provisioningStore(database).find(id)) ?? nothingRequested(incident);
        return { body: { provisioning: provisioningView(provisioning) } };
      },
    }),
    route({
      id: 'retryIncidentProvisioning',
      method: 'post',
      path: '/api/v1/incidents/{id}/provisioning/retry',
      summary: 'Try the failed steps of a provisioning again',
      tag,
      scope: 'incidents:write',
      needs: ['active_responder', 'mutable_incident'],
      params,
      body: provisioningRetry,
      bodyOptional: true,
      reply: { status: 202, body: provisioningReply },
      handle: async ({ principal, requestId, params: { id }, body: { steps } }) => {
        const provisioning = await retryProvisioning(tools, { principal, requestId, id, steps });
        return { body: { provisioning: provisioningView(provisioning) } };
      },
    }),
  ];
}

function provisioningView({ incidentId, steps, createdAt }: Provisioning): ProvisioningWire {
  return {
    incident_id: incidentId,
    status: overallStatus(steps),
    steps: steps.map(({ key, status, attempts, errorCode, updatedAt }) => ({
      key,
      status,
      attempts,
      ...(errorCode !== null && { error_code: errorCode }),
      updated_at: updatedAt,
    })),
    created_at: createdAt,
    updated_at: steps.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), createdAt),
  };
}
