import { type ChannelDependencies, previewChannelName, setChannelName } from '../channel-name.ts';
import { toRequestedName, type ProvisioningWire } from './wire.ts';
import type { ChatApi } from './contracts.ts';
import { overallStatus, type WorkProgress } from '../domain/provisioning.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import {
  type ChatWork,
  type ProvisioningCommandDependencies,
  readChatWork,
  requestProvisioning,
  retryProvisioning,
} from '../request-provisioning.ts';

export function chatHandlers(dependencies: ChannelDependencies & ProvisioningCommandDependencies): ChatApi {
  const { database } = dependencies;
  const reply = (work: ChatWork) => ({ body: { provisioning: provisioningView(work) } });
  return {
    getIncidentProvisioning: async ({ principal, params: { id } }) => {
      const incident = await incidentStore(database, principal.workspace.id).get(id);
      return reply(await readChatWork(database, incident));
    },

    requestIncidentProvisioning: async ({ principal, requestId, params: { id }, body }) => {
      const { short_title: shortTitle, invite_usergroups: usergroups = [] } = body;
      const command = { principal, requestId, id, shortTitle, usergroups };
      return reply(await requestProvisioning(dependencies, command));
    },

    retryIncidentProvisioning: async ({ principal, requestId, params: { id }, body: { steps } }) =>
      reply(await retryProvisioning(dependencies, { principal, requestId, id, steps })),

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
  };
}

const progressView = ({ status, attempts, errorCode, updatedAt }: WorkProgress) => ({
  status,
  attempts,
  ...(errorCode !== null && { error_code: errorCode }),
  updated_at: updatedAt,
});

function provisioningView({ provisioning, updates }: ChatWork): ProvisioningWire {
  const { incidentId, steps, createdAt } = provisioning;
  return {
    incident_id: incidentId,
    status: overallStatus(steps),
    steps: steps.map(({ key, ...progress }) => ({ key, ...progressView(progress) })),
    ...(updates !== undefined && { channel_updates: progressView(updates) }),
    created_at: createdAt,
    updated_at: steps.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), createdAt),
  };
}
