import { notFound } from '@tocsin/http';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { provisioningStore } from './store/provisioning-store.ts';
import { type ClaimedStep, stepQueue } from './store/step-queue.ts';
import { channelNotLinked, chatNotConfigured } from './chat-errors.ts';
import type { ProvisioningDependencies } from './provision-channel.ts';

/**
 * Invites the requested user groups into the incident's channel (contract: Chat). Safe to repeat.
 * @throws ChatError, DomainError; `not_found` if a group does not exist, after inviting the others
 */
export async function inviteUsergroups(dependencies: ProvisioningDependencies, claim: ClaimedStep): Promise<void> {
  const { database, clock, chats } = dependencies;
  const { incidentId, workspaceId } = claim;
  const incident = await incidentStore(database, workspaceId).get(incidentId);
  checkWritable(incident);
  const connected = await chats.find(workspaceId, 'background');
  if (connected === undefined) throw chatNotConfigured();
  if (incident.slackChannelId === '') throw channelNotLinked();

  const { usergroups } = await provisioningStore(database).getRequest(incidentId);
  const unknown = await connected.chat.inviteUsergroups(incident.slackChannelId, usergroups);
  if (unknown.length > 0) throw notFound('A user group');
  await stepQueue(database).finish(claim, { status: 'succeeded', errorCode: null, now: clock.now() });
}
