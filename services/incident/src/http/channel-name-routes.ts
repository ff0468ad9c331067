import { pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { previewChannelName, setChannelName } from '../usecases/channel-name.ts';
import type { Tools } from '../usecases/context.ts';
import { channelNameChange, channelNamePreview, channelNameRequest, renamed, toWantedName } from './chat-wire.ts';

const CHANNEL_NAME = '/api/v1/incidents/{id}/slack/channel-name';

const operation = {
  tag: 'Chat',
  scope: 'incidents:write',
  needs: ['active_responder', 'mutable_incident', 'slack_channel'],
  params: z.strictObject({ id: pathId }),
} as const;
const named = { body: channelNameRequest, bodyFault: 'invalid_slack_channel_name_request' } as const;

export function channelNameRoutes({ tools }: { tools: Tools }) {
  return [
    route({
      ...operation,
      ...named,
      // An archived incident's too: nothing is changed.
      needs: ['active_responder', 'slack_channel'],
      id: 'previewIncidentChannelName',
      method: 'post',
      path: `${CHANNEL_NAME}/preview`,
      summary: "What an incident's channel would be called, and whether the name is free",
      reply: { status: 200, body: channelNamePreview },
      handle: async ({ principal, requestId, params: { id }, body }) => {
        const wanted = toWantedName(body);
        const { name, currentName, available } = await previewChannelName(tools, { principal, requestId, id, wanted });
        return { body: { channel_name: name, current_name: currentName, mode: wanted.mode, available } };
      },
    }),
    route({
      ...operation,
      ...named,
      id: 'setIncidentChannelName',
      method: 'patch',
      path: CHANNEL_NAME,
      summary: "Rename an active incident's channel",
      reply: { status: 200, body: channelNameChange },
      handle: async ({ principal, requestId, params: { id }, body }) => {
        const wanted = toWantedName(body);
        const { name, channelId, changed } = await setChannelName(tools, { principal, requestId, id, wanted });
        return { body: { channel_name: name, channel_id: channelId, mode: wanted.mode, changed } };
      },
    }),
    route({
      ...operation,
      id: 'renameIncidentChannel',
      method: 'post',
      path: '/api/v1/incidents/{id}/rename-slack-channel',
      summary: "Apply the workspace's template to an active incident's channel",
      deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-11-20T00:00:00Z', successor: CHANNEL_NAME },
      reply: { status: 200, body: renamed },
      handle: async ({ principal, requestId, params: { id } }) => {
        const wanted = { mode: 'workspace_template' } as const;
        const { name } = await setChannelName(tools, { principal, requestId, id, wanted });
        return { body: { channel_name: name } };
      },
    }),
  ];
}
