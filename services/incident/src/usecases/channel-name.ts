import type { Chat, ChatChannel } from '../clients/chat.ts';
import { channelName } from '../domain/channel-name.ts';
import type { Incident } from '../domain/incident.ts';
import { checkWritable } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { channelMissing, notConfigured, toDomainFault } from './chat-faults.ts';
import type { Caller, Tools } from './context.ts';

/** Which name a channel is to have: one that is given, or the one of the workspace's template. */
export type WantedName = { mode: 'custom'; name: string } | { mode: 'workspace_template' };

interface NameCommand extends Caller {
  id: number;
  wanted: WantedName;
}

export interface NamePreview {
  name: string;
  currentName: string;
  /** Whether no other channel that the connection can see has the name. */
  available: boolean;
}

export interface NameChange {
  name: string;
  channelId: string;
  changed: boolean;
}

/**
 * What a channel would be called, archived incidents included; changes nothing (contract: Chat).
 * @throws DomainError `not_found`, `slack_not_configured`, `incident_slack_channel_missing`, `slack_channel_not_found`,
 * `service_unavailable`
 */
export async function previewChannelName(tools: Tools, { principal, id, wanted }: NameCommand): Promise<NamePreview> {
  const incident = await incidentStore(tools.database, principal.workspace.id).get(id);
  return withChannel(tools, incident, async ({ chat, template, channel }) => {
    const name = nameFor(wanted, template, incident);
    const available = name === channel.name || (await chat.findChannel(name)) === undefined;
    return { name, currentName: channel.name, available };
  });
}

/**
 * Renames an active incident's channel; one that has the name already is left alone (contract: Chat).
 * @throws DomainError `not_found`, `invalid_resource_state`, `slack_not_configured`, `incident_slack_channel_missing`,
 * `slack_channel_not_found`, `slack_channel_name_taken`, `service_unavailable`
 */
export async function setChannelName(tools: Tools, { principal, id, wanted }: NameCommand): Promise<NameChange> {
  const incident = await incidentStore(tools.database, principal.workspace.id).get(id);
  checkWritable(incident);
  return withChannel(tools, incident, async ({ chat, template, channel }) => {
    const name = nameFor(wanted, template, incident);
    const changed = name !== channel.name;
    if (changed) await chat.renameChannel(channel.id, name);
    return { name, channelId: channel.id, changed };
  });
}

const nameFor = (wanted: WantedName, template: string, incident: Incident): string =>
  wanted.mode === 'custom' ? wanted.name : channelName(template, incident);

/** Asks the chat for an incident's channel, and tells the chat's faults as the API does. */
async function withChannel<Result>(
  tools: Tools,
  { workspaceId, slackChannelId }: Incident,
  work: (linked: { chat: Chat; template: string; channel: ChatChannel }) => Promise<Result>,
): Promise<Result> {
  try {
    const connected = await tools.chats.find(workspaceId, 'while-a-client-waits');
    if (connected === undefined) throw notConfigured();
    const { chat, template } = connected;
    if (slackChannelId === '') {
      // Without a connection that works, linking a channel would not help yet.
      await chat.check();
      throw channelMissing();
    }
    return await work({ chat, template, channel: await chat.getChannel(slackChannelId) });
  } catch (error) {
    throw toDomainFault(error);
  }
}
