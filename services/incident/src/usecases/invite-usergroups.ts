import { notFound } from '@tocsin/http';
import { checkWritable } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import { type StepClaim, stepQueue } from '../store/step-queue.ts';
import { channelMissing, notConfigured } from './chat-faults.ts';
import type { ProvisioningTools } from './provision-channel.ts';

/**
 * Invites the user groups that were asked for into the incident's channel (contract: Chat). Safe to repeat.
 * @throws DomainError (`not_found` for a group that does not exist; the others are invited nevertheless), ChatError
 */
export async function inviteUsergroups(tools: ProvisioningTools, claim: StepClaim): Promise<void> {
  const { database, clock, chats } = tools;
  const { incidentId, workspaceId } = claim;
  const incident = await incidentStore(database, workspaceId).get(incidentId);
  checkWritable(incident);
  const connected = await chats.find(workspaceId, 'in-the-background');
  if (connected === undefined) throw notConfigured();
  if (incident.slackChannelId === '') throw channelMissing();

  const { usergroups } = await provisioningStore(database).getRequest(incidentId);
  const unknown = await connected.chat.inviteUsergroups(incident.slackChannelId, usergroups);
  if (unknown.length > 0) throw notFound('A user group');
  await stepQueue(database).settle(claim, { status: 'succeeded', errorCode: null, now: clock.now() });
}
