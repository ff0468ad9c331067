import { emptyProvisioning, overallStatus, type Provisioning } from '../domain/provisioning.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Dependencies } from '../../dependencies.ts';
import { retryProvisioning } from '../retry-provisioning.ts';
import type { ProvisioningWire } from './wire.ts';
import type { ChatApi } from './contracts.ts';

export function provisioningHandlers(
  dependencies: Dependencies,
): Pick<ChatApi, 'getIncidentProvisioning' | 'retryIncidentProvisioning'> {
  const { database } = dependencies;
  return {
    getIncidentProvisioning: async ({ principal, params: { id } }) => {
      const incident = await incidentStore(database, principal.workspace.id).get(id);
      const provisioning = (await provisioningStore(database).find(id)) ?? emptyProvisioning(incident);
      return { body: { provisioning: provisioningView(provisioning) } };
    },

    retryIncidentProvisioning: async ({ principal, requestId, params: { id }, body: { steps } }) => {
      const provisioning = await retryProvisioning(dependencies, { principal, requestId, id, steps });
      return { body: { provisioning: provisioningView(provisioning) } };
    },
  };
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
