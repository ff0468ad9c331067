import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import {
  channelNamePreviewReply,
  channelNameReply,
  channelNameRequest,
  channelRenameReply,
  provisioningReply,
  provisioningRequest,
  provisioningRetry,
} from './wire.ts';

const CHANNEL_NAME = `${INCIDENT}/slack/channel-name`;
const channel = {
  tag: 'Chat',
  scope: 'incidents:write',
  needs: ['active_responder', 'mutable_incident', 'slack_channel'],
  params,
  // The chat has fifteen seconds (`CHAT_TIMEOUTS`), and the gateway must not give up before it.
  deadline: 20_000,
  cost: { base: 5 },
} as const;
const channelName = { body: channelNameRequest, bodyFault: 'invalid_slack_channel_name_request' } as const;

/** contract: Chat */
export const chatContracts = {
  getIncidentProvisioning: {
    ...endpoint('GET', `${INCIDENT}/provisioning`, 'Get the chat provisioning of an incident'),
    tag: 'Chat',
    ...read,
    params,
    reply: { status: 200, body: provisioningReply },
  },
  requestIncidentProvisioning: {
    ...endpoint('POST', `${INCIDENT}/provisioning`, 'Request a channel for an incident'),
    tag: 'Chat',
    ...write,
    params,
    body: provisioningRequest,
    bodyOptional: true,
    reply: { status: 202, body: provisioningReply },
  },
  retryIncidentProvisioning: {
    ...endpoint('POST', `${INCIDENT}/provisioning/retry`, 'Retry failed provisioning steps'),
    tag: 'Chat',
    ...write,
    params,
    body: provisioningRetry,
    bodyOptional: true,
    reply: { status: 202, body: provisioningReply },
  },
  previewIncidentChannelName: {
    ...endpoint('POST', `${CHANNEL_NAME}/preview`, "Preview the name of an incident's channel"),
    ...channel,
    // Allowed for an archived incident: a preview changes nothing.
    needs: ['active_responder', 'slack_channel'],
    ...channelName,
    reply: { status: 200, body: channelNamePreviewReply },
  },
  setIncidentChannelName: {
    ...endpoint('PATCH', CHANNEL_NAME, "Rename an incident's channel"),
    ...channel,
    errors: ['slack_channel_name_taken'],
    ...channelName,
    reply: { status: 200, body: channelNameReply },
  },
  renameIncidentChannel: {
    ...endpoint('POST', `${INCIDENT}/rename-slack-channel`, "Rename an incident's channel by the workspace's template"),
    ...channel,
    errors: ['slack_channel_name_taken', 'invalid_slack_channel_name_request'],
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-11-20T00:00:00Z', successor: CHANNEL_NAME },
    reply: { status: 200, body: channelRenameReply },
  },
} as const satisfies Contracts;

export type ChatApi = Handlers<typeof chatContracts>;
