import { type Instant, knownTimeZone } from '@tocsin/runtime';
import { notFound } from '@tocsin/http';
import { type Chats, chatNotConfigured, channelNotLinked } from './chats.ts';
import { type ChatChannel, ChatError } from './clients/chat.ts';
import { channelName } from './domain/channel-name.ts';
import { humanId, type Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { readConfiguration } from '../configuration/store/configuration-store.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import {
  type ProvisioningRequest,
  channelNameStore,
  provisioningStore,
  type ClaimedStep,
  stepQueue,
} from './store/provisioning-store.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';
import { changeIncident, save } from '../incidents/save-incident.ts';
import type { Owners } from '../replicas/clients/owners.ts';

/** The dependencies of provisioning steps. */
export type ProvisioningDependencies = Pick<CommandDependencies, 'database' | 'clock' | 'wakeRelay'> & {
  chats: Chats;
  owners: Pick<Owners, 'findPeople'>;
};

/** Milliseconds that the chat's clock may be behind ours. */
const MAX_CLOCK_SKEW = 60_000;

/**
 * Creates an incident's channel and links it (contract: Chat). Safe to repeat: a later attempt finds the channel of an
 * interrupted one by its name and purpose. A channel that a user has linked in the meantime stays linked. That of a
 * restricted incident is private, unless it was made before the incident became restricted.
 * @throws DomainError, ChatError
 */
export async function provisionChannel(dependencies: ProvisioningDependencies, claim: ClaimedStep): Promise<void> {
  const { database, clock } = dependencies;
  const { incidentId, workspaceId } = claim;
  const incident = await incidentStore(database, workspaceId).get(incidentId);
  checkWritable(incident);
  const request = await provisioningStore(database).getRequest(claim);
  const channelId =
    incident.slackChannelId === '' ? await findOrCreateChannel(dependencies, { incident, request }) : undefined;

  await database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspaceId).getForUpdate(incidentId);
    checkWritable(before);
    const now = clock.now();
    const queue = stepQueue(trx);
    // If the lease was lost, another process runs the step and will find the channel.
    if (!(await queue.finish(claim, { status: 'succeeded', errorCode: null, now }))) return;
    const invitation = { workspaceId, incidentId, key: 'invite_usergroups' } as const;
    await queue.updateWaiting(invitation, { status: 'pending', errorCode: null, dueAt: now, now });
    if (channelId === undefined || before.slackChannelId !== '') return;
    const author = { actor: 'slack', key: undefined, workspace: request.workspace, requestId: request.requestId };
    await save(trx, changeIncident({ author, before, change: { slackChannelId: channelId }, now }));
  });
  dependencies.wakeRelay();
}

/** Returns the ID of the incident's channel, which this or an earlier attempt created. */
async function findOrCreateChannel(
  dependencies: ProvisioningDependencies,
  { incident, request }: { incident: Incident; request: ProvisioningRequest },
): Promise<string> {
  const { database, clock, chats } = dependencies;
  const connected = await chats.find(incident.workspaceId, 'background');
  if (connected === undefined) throw chatNotConfigured();
  const { chat, template } = connected;

  const names = channelNameStore(database, { workspaceId: incident.workspaceId, incidentId: incident.id });
  const reserved = await names.find();
  const name = reserved?.name ?? channelName({ template, timeZone: await findTimeZone() }, incident);
  if (reserved === undefined) await names.reserve(name, clock.now());
  const purpose = `${humanId(incident.number)} of ${request.workspace.slug}, opened by Tocsin [${request.marker}]`;
  try {
    const isPrivate = incident.restricted;
    const channel = await chat.createChannel(name, { isPrivate }).catch(async (error: unknown) => {
      // At the first attempt the existing channel cannot be ours.
      if (!isChatError(error, 'name_taken') || reserved === undefined) throw error;
      const existing = await chat.findChannel(name);
      if (existing === undefined || !(await isOwn(existing, reserved.namedAt))) throw error;
      return existing;
    });
    if (channel.purpose !== purpose) await chat.setPurpose(channel.id, purpose);
    return channel.id;
  } catch (error) {
    // No channel of this incident has the name, so the next attempt may use another one.
    if (isChatError(error, 'name_taken') || isChatError(error, 'invalid_name')) await names.release();
    throw error;
  }

  async function findTimeZone(): Promise<string> {
    return knownTimeZone((await readConfiguration(database, incident.workspaceId)).timeZone);
  }

  /**
   * A channel without a purpose may come from an attempt that was interrupted right after creating it. It is ours if our
   * connection created it after we reserved the name and no other incident uses the name.
   */
  async function isOwn(existing: ChatChannel, namedAt: Instant): Promise<boolean> {
    if (existing.purpose !== '') return existing.purpose.includes(request.marker);
    const isNew = existing.createdAt >= Date.parse(namedAt) - MAX_CLOCK_SKEW;
    return existing.isOurs && isNew && !(await names.isUsedElsewhere(name));
  }
}

const isChatError = (error: unknown, reason: ChatError['reason']) =>
  error instanceof ChatError && error.reason === reason;

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

  const { usergroups } = await provisioningStore(database).getRequest(claim);
  const unknown = await connected.chat.inviteUsergroups(incident.slackChannelId, usergroups);
  if (unknown.length > 0) throw notFound('A user group');
  await stepQueue(database).finish(claim, { status: 'succeeded', errorCode: null, now: clock.now() });
}
