import { previewChannelName, setChannelName } from '../channel-name.ts';
import type { Dependencies } from '../../dependencies.ts';
import { toRequestedName } from './wire.ts';
import type { ChatApi } from './contracts.ts';

export const channelNameHandlers = (
  dependencies: Dependencies,
): Pick<ChatApi, 'previewIncidentChannelName' | 'setIncidentChannelName' | 'renameIncidentChannel'> => ({
  previewIncidentChannelName: async ({ principal, requestId, params: { id }, body }) => {
    const requested = toRequestedName(body);
    const { name, currentName, available } = await previewChannelName(dependencies, {
      principal,
      requestId,
      id,
      requested,
    });
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
