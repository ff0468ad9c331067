import { type ChannelDependencies, previewChannelName, setChannelName } from '../channel-name.ts';
import { toRequestedName, type ProvisioningWire } from './wire.ts';
import type { ChatApi } from './contracts.ts';
import { emptyProvisioning, overallStatus, type Provisioning } from '../domain/provisioning.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import {
  type ProvisioningCommandDependencies,
  requestProvisioning,
  retryProvisioning,
} from '../request-provisioning.ts';

export const chatHandlers = (dependencies: ChannelDependencies & ProvisioningCommandDependencies): ChatApi => ({
  getIncidentProvisioning: async ({ principal, params: { id } }) => {
    const { database } = dependencies;
    const incident = await incidentStore(database, principal.workspace.id).get(id);
    const provisioning = (await provisioningStore(database).find(id)) ?? emptyProvisioning(incident);
    return { body: { provisioning: provisioningView(provisioning) } };
  },

  requestIncidentProvisioning: async ({ principal, requestId, params: { id }, body }) => {
    const { short_title: shortTitle, invite_usergroups: usergroups = [] } = body;
    const command = { principal, requestId, id, shortTitle, usergroups };
    return { body: { provisioning: provisioningView(await requestProvisioning(dependencies, command)) } };
  },

  retryIncidentProvisioning: async ({ principal, requestId, params: { id }, body: { steps } }) => {
    const provisioning = await retryProvisioning(dependencies, { principal, requestId, id, steps });
    return { body: { provisioning: provisioningView(provisioning) } };
  },

  previewIncidentChannelName: async ({ principal, requestId, params: { id }, body }) => {
    const requested = toRequestedName(body);
    const command = { principal, requestId, id, requested };
    const { name, currentName, available } = await previewChannelName(dependencies, command);
    return { body: { channel_name: name, current_name: currentName, mode: requested.mode, available } };
  },

  setIncidentChannelName: async ({ principal, requestId, params: { id }, body }) => {
    const requested = toRequestedName(body);
    const { name, channelId, changed } = await setChannelName(dependencies, { principal, requestId, id, requested });
    return { body: { channel_name: name, channel_id: channelId, mode: requested.mode, changed } };
  },

  renameIncidentChannel: async ({ principal, requestId, params: { id } }) => {
    const requested = { mode: 'workspace_template' } as const;
    const { name } = await setChannelName(dependencies, { principal, requestId, id, requested });
    return { body: { channel_name: name } };
  },
});

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
