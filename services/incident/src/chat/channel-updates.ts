import { invalidState } from '@tocsin/http';
import { readConfiguration } from '../configuration/store/configuration-store.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { channelNotLinked, chatNotConfigured } from './chats.ts';
import { channelUpdate } from './domain/channel-update.ts';
import type { ProvisioningDependencies } from './provisioning-steps.ts';
import { channelUpdateStore } from './store/channel-update-store.ts';
import type { ClaimedStep } from './store/provisioning-store.ts';

/**
 * Posts what has changed since the last message into an incident's channel (contract: Chat). A message whose response was
 * lost is posted again. Nothing about a restricted incident is posted into a public channel.
 * @throws DomainError, ChatError
 */
export async function postChannelUpdates(dependencies: ProvisioningDependencies, claim: ClaimedStep): Promise<void> {
  const { database, clock, chats } = dependencies;
  const { incidentId, workspaceId } = claim;
  const connected = await chats.find(workspaceId, 'background');
  if (connected === undefined) throw chatNotConfigured();
  const store = channelUpdateStore(database);
  const due = await store.readDue(claim);
  if (due === undefined) return;
  const incident = await incidentStore(database, workspaceId).get(incidentId);
  const text = channelUpdate(incident, due.changes, await readConfiguration(database, workspaceId));
  if (text !== undefined && connected.postsUpdates) {
    if (incident.slackChannelId === '') throw channelNotLinked();
    if (incident.restricted && !(await connected.chat.getChannel(incident.slackChannelId)).isPrivate)
      throw invalidState('The incident is restricted, and its channel is public');
    await connected.chat.postMessage(incident.slackChannelId, text);
  }
  await store.setPosted(claim, due.upTo, clock.now());
}
