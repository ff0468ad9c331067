import { invalidState } from '@tocsin/http';
import type { IncidentRole } from '../configuration/domain/configuration.ts';
import { readConfiguration } from '../configuration/store/configuration-store.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { USER_ID } from '../incidents/domain/property-kinds.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { channelNotLinked, chatNotConfigured } from './chats.ts';
import { changesTopic, channelTopic, peopleOf } from './domain/channel-topic.ts';
import { channelUpdate } from './domain/channel-update.ts';
import type { ProvisioningDependencies } from './provisioning-steps.ts';
import { channelUpdateStore } from './store/channel-update-store.ts';
import type { ClaimedStep } from './store/provisioning-store.ts';

/**
 * Posts what has changed since the last message into an incident's channel, and sets its topic (contract: Chat). A message
 * whose response was lost is posted again. Nothing about a restricted incident goes into a public channel.
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
  const configuration = await readConfiguration(database, workspaceId);
  const text = channelUpdate(incident, due.changes, configuration);
  const isTopicDue = changesTopic(incident, due.changes);
  if ((text !== undefined || isTopicDue) && connected.postsUpdates) {
    if (incident.slackChannelId === '') throw channelNotLinked();
    if (incident.restricted && !(await connected.chat.getChannel(incident.slackChannelId)).isPrivate)
      throw invalidState('The incident is restricted, and its channel is public');
    // First, because it can be repeated.
    if (isTopicDue) {
      const topic = await topicOf(dependencies, incident, configuration.incidentRoles);
      await connected.chat.setTopic(incident.slackChannelId, topic);
    }
    if (text !== undefined) await connected.chat.postMessage(incident.slackChannelId, text);
  }
  await store.setPosted(claim, due.upTo, clock.now());
}

async function topicOf(
  { owners }: ProvisioningDependencies,
  incident: Incident,
  configured: readonly IncidentRole[],
): Promise<string> {
  const ids = [...new Set(peopleOf(incident))].filter((person) => USER_ID.test(person)).map(Number);
  const users = ids.length === 0 ? [] : await owners.findPeople(incident.workspaceId, { ids });
  const names = new Map(users.map(({ id, name }) => [String(id), name]));
  return channelTopic(incident, { configured, nameOf: (person) => names.get(person) ?? person });
}
