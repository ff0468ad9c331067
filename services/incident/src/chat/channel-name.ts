import { invalidState } from '@tocsin/http';
import type { Caller } from '@tocsin/versioned-resources';
import { knownTimeZone } from '@tocsin/runtime';
import type { Chat, ChatChannel } from './clients/chat.ts';
import { channelName, type ChannelNaming } from './domain/channel-name.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { channelNotLinked, chatNotConfigured, toDomainError, type Chats } from './chats.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';

/** The requested name of a channel: a given one, or the one that the workspace's template produces. */
export type RequestedName = { mode: 'custom'; name: string } | { mode: 'workspace_template' };

export type ChannelDependencies = Pick<CommandDependencies, 'database' | 'configurations'> & { chats: Chats };

interface NameCommand extends Caller {
  id: number;
  requested: RequestedName;
}

export interface NamePreview {
  name: string;
  currentName: string;
  /** Whether no other visible channel has the name. */
  available: boolean;
}

export interface NameChange {
  name: string;
  channelId: string;
  changed: boolean;
}

/**
 * Returns the name that a channel would get, also for an archived incident; changes nothing (contract: Chat).
 * @throws DomainError `not_found`, `slack_not_configured`, `incident_slack_channel_missing`, `slack_channel_not_found`,
 * `service_unavailable`
 */
export async function previewChannelName(
  dependencies: ChannelDependencies,
  { principal, id, requested }: NameCommand,
): Promise<NamePreview> {
  const incident = await incidentStore(dependencies.database, principal.workspace.id).get(id);
  return withChannel(dependencies, { principal, incident }, async ({ chat, naming, channel }) => {
    const name = resolveName(requested, naming, incident);
    const available = name === channel.name || (await chat.findChannel(name)) === undefined;
    return { name, currentName: channel.name, available };
  });
}

/**
 * Renames an active incident's channel unless it has the name already (contract: Chat). What the template says of a
 * restricted incident is no name for a public channel.
 * @throws DomainError `not_found`, `invalid_resource_state`, `slack_not_configured`, `incident_slack_channel_missing`,
 * `slack_channel_not_found`, `slack_channel_name_taken`, `service_unavailable`
 */
export async function setChannelName(
  dependencies: ChannelDependencies,
  { principal, id, requested }: NameCommand,
): Promise<NameChange> {
  const incident = await incidentStore(dependencies.database, principal.workspace.id).get(id);
  checkWritable(incident);
  return withChannel(dependencies, { principal, incident }, async ({ chat, naming, channel }) => {
    if (requested.mode === 'workspace_template' && incident.restricted && !channel.isPrivate)
      throw invalidState('The incident is restricted, and its channel is public');
    const name = resolveName(requested, naming, incident);
    const changed = name !== channel.name;
    if (changed) await chat.renameChannel(channel.id, name);
    return { name, channelId: channel.id, changed };
  });
}

const resolveName = (requested: RequestedName, naming: ChannelNaming, incident: Incident): string =>
  requested.mode === 'custom' ? requested.name : channelName(naming, incident);

/** Runs `work` with an incident's channel and converts the chat's errors into those of the API. */
async function withChannel<Result>(
  dependencies: ChannelDependencies,
  { principal, incident }: Pick<Caller, 'principal'> & { incident: Incident },
  work: (linked: { chat: Chat; naming: ChannelNaming; channel: ChatChannel }) => Promise<Result>,
): Promise<Result> {
  const { workspace } = principal;
  const { slackChannelId } = incident;
  try {
    const connected = await dependencies.chats.find(workspace.id, 'request');
    if (connected === undefined) throw chatNotConfigured();
    const { chat, template } = connected;
    if (slackChannelId === '') {
      // A broken connection is reported first: linking a channel would not help.
      await chat.check();
      throw channelNotLinked();
    }
    const timeZone = knownTimeZone((await dependencies.configurations.get(workspace)).timeZone);
    return await work({ chat, naming: { template, timeZone }, channel: await chat.getChannel(slackChannelId) });
  } catch (error) {
    throw toDomainError(error);
  }
}
