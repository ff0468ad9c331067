import type { Instant } from '@tocsin/runtime';
import { type ChatChannel, ChatError } from '../clients/chat.ts';
import { channelName } from '../domain/channel-name.ts';
import { humanId, type Incident } from '../domain/incident.ts';
import { checkWritable } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { type ProvisioningRequest, provisioningStore } from '../store/provisioning-store.ts';
import { type StepClaim, stepQueue } from '../store/step-queue.ts';
import { notConfigured } from './chat-faults.ts';
import type { Tools } from './context.ts';
import { saveIncident } from './save-incident.ts';

/** What the steps of a provisioning work with. */
export type ProvisioningTools = Pick<Tools, 'database' | 'clock' | 'chats' | 'wakeRelay'>;

/** How far the chat's clock may be behind ours. */
const CLOCK_DIFFERENCE = 60_000;

/**
 * Makes an incident's channel and links it (contract: Chat). Safe to repeat: a channel that an earlier attempt made and could
 * not report is found again by its name and purpose. A channel that was linked by hand meanwhile stays.
 * @throws DomainError, ChatError
 */
export async function provisionChannel(tools: ProvisioningTools, claim: StepClaim): Promise<void> {
  const { database, clock } = tools;
  const { incidentId, workspaceId } = claim;
  const incident = await incidentStore(database, workspaceId).get(incidentId);
  checkWritable(incident);
  const request = await provisioningStore(database).getRequest(incidentId);
  const channelId = incident.slackChannelId === '' ? await makeChannel(tools, { incident, request }) : undefined;

  await database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspaceId).getForUpdate(incidentId);
    checkWritable(before);
    const now = clock.now();
    const queue = stepQueue(trx);
    // Else somebody else has the step by now, and finds the channel.
    if (!(await queue.settle(claim, { status: 'succeeded', errorCode: null, now }))) return;
    const invitation = { incidentId, key: 'invite_usergroups' } as const;
    await queue.release(invitation, { status: 'pending', errorCode: null, dueAt: now, now });
    if (channelId === undefined || before.slackChannelId !== '') return;
    const author = { actor: 'slack', workspace: request.workspace, requestId: request.requestId };
    await saveIncident({ trx, author, before, change: { slackChannelId: channelId }, now });
  });
  tools.wakeRelay();
}

/** Answers the ID of the incident's own channel, made now or before. */
async function makeChannel(
  tools: ProvisioningTools,
  { incident, request }: { incident: Incident; request: ProvisioningRequest },
): Promise<string> {
  const { database, clock, chats } = tools;
  const connected = await chats.find(incident.workspaceId, 'in-the-background');
  if (connected === undefined) throw notConfigured();
  const { chat, template } = connected;

  const store = provisioningStore(database);
  const earlier = await store.findName(incident.id);
  const name = earlier?.name ?? channelName(template, incident);
  if (earlier === undefined) await store.fixName(incident.id, name, clock.now());
  const purpose = `${humanId(incident.number)} of ${request.workspace.slug}, opened by Tocsin [${request.marker}]`;
  try {
    const channel = await chat.createChannel(name).catch(async (error: unknown) => {
      // Not at the first attempt: whoever has the name then, it is not us.
      if (!isFault(error, 'name_taken') || earlier === undefined) throw error;
      const holder = await chat.findChannel(name);
      if (holder === undefined || !(await isOwn(holder, earlier.namedAt))) throw error;
      return holder;
    });
    if (channel.purpose !== purpose) await chat.setPurpose(channel.id, purpose);
    return channel.id;
  } catch (error) {
    // No channel of this incident has the name, so another may be asked for next time.
    if (isFault(error, 'name_taken') || isFault(error, 'invalid_name')) await store.forgetName(incident.id);
    throw error;
  }

  /**
   * A channel without a purpose is of an attempt that died right after making it. It is ours if our connection made it since
   * we asked for it, and nobody else can have.
   */
  async function isOwn(holder: ChatChannel, namedAt: Instant): Promise<boolean> {
    if (holder.purpose !== '') return holder.purpose.includes(request.marker);
    const isNew = holder.createdAt >= Date.parse(namedAt) - CLOCK_DIFFERENCE;
    return holder.isOurs && isNew && !(await store.isWantedElsewhere(name, incident.id));
  }
}

const isFault = (error: unknown, fault: ChatError['fault']) => error instanceof ChatError && error.fault === fault;
