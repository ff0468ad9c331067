import { randomBytes } from 'node:crypto';
import { invalidRequest, normaliseList, invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Caller, eventOrigin } from '@tocsin/versioned-resources';
import { slugify } from './domain/channel-name.ts';
import type { Incident, IncidentProperties } from '../incidents/domain/incident.ts';
import { channelUpdateStore } from './store/channel-update-store.ts';
import { type NewProvisioning, provisioningStore } from './store/provisioning-store.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import {
  emptyProvisioning,
  type Provisioning,
  type StepKey,
  WORK_KEYS,
  type WorkKey,
  type WorkProgress,
} from './domain/provisioning.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';

/** What commands that request provisioning need. */
export interface ProvisioningCommandDependencies extends CommandDependencies {
  /** Makes the provisioner look for due steps now; call it after the commit. */
  wakeProvisioner: () => void;
}

/** The chat setup that a create requests. */
export interface ChatRequest {
  /** A part of the channel's name; empty for none. */
  shortTitle: string;
  createChannel: boolean;
  /** Handles of the user groups to invite. */
  usergroups: readonly string[];
}

/**
 * Returns the short title as a part of a channel's name.
 * @throws DomainError `invalid_request` if the workspace requires a short title and the text has no usable character
 */
export function shortTitleSlug(text: string, { required }: { required: boolean }): string {
  const shortTitle = slugify(text);
  if (required && shortTitle === '') {
    throw invalidRequest('short_title', 'The workspace requires one, with at least one letter or digit');
  }
  return shortTitle;
}

/**
 * Returns the provisioning that a new incident needs; `undefined` if the request asks for none.
 * @throws DomainError `invalid_request` if the request links a channel and asks for another
 */
export function requestedProvisioning(
  caller: Caller,
  { chat, incident, now }: { chat: ChatRequest; incident: Partial<IncidentProperties>; now: Instant },
): NewProvisioning | undefined {
  const { createChannel } = chat;
  if (createChannel && (incident.slackChannelId ?? '') !== '') {
    throw invalidRequest('create_slack_channel', 'Must not be true together with a slack_channel_id');
  }
  const usergroups = normaliseList(chat.usergroups);
  const steps: NewProvisioning['steps'] = [
    ...(createChannel ? [{ key: 'slack_channel' as const, dueAt: now }] : []),
    // Without a due time the step waits until the channel exists.
    ...(usergroups.length > 0 ? [{ key: 'invite_usergroups' as const, dueAt: createChannel ? null : now }] : []),
  ];
  if (steps.length === 0) return undefined;
  const marker = randomBytes(6).toString('hex');
  return { ...eventOrigin(caller), marker, usergroups, steps, now };
}

/** The background work of an incident in the chat. */
export interface ChatWork {
  provisioning: Provisioning;
  /** The messages in the channel; undefined if none was ever due. */
  updates: WorkProgress | undefined;
}

/** Reads the work, in a command's own transaction: a response must not depend on a statement after the commit. */
export async function readChatWork(
  db: Knex,
  incident: Pick<Incident, 'workspaceId' | 'id' | 'createdAt'>,
): Promise<ChatWork> {
  const ofIncident = { workspaceId: incident.workspaceId, incidentId: incident.id };
  return {
    provisioning: (await provisioningStore(db).find(ofIncident)) ?? emptyProvisioning(incident),
    updates: await channelUpdateStore(db).find(ofIncident),
  };
}

interface RequestCommand extends Caller {
  id: number;
  /** Default: that of the incident. */
  shortTitle: string | undefined;
  /** Handles of the user groups to invite. */
  usergroups: readonly string[];
}

/**
 * Requests a channel for an incident that has none and for which none was requested (contract: Chat).
 * @throws DomainError `not_found`; `invalid_resource_state` if the incident is archived, has a channel, or one was
 *   requested; `invalid_request` for the short title
 */
export async function requestProvisioning(
  dependencies: ProvisioningCommandDependencies,
  command: RequestCommand,
): Promise<ChatWork> {
  const { principal, id, usergroups } = command;
  const { workspace } = principal;
  const ofIncident = { workspaceId: workspace.id, incidentId: id };
  const requested = await runCommand(dependencies, {
    workspace,
    reads: async (trx) => {
      const incident = await incidentStore(trx, workspace.id).getForUpdate(id);
      return { incident, existing: await provisioningStore(trx).find(ofIncident) };
    },
    decides: ({ incident, existing }, { now }) => {
      checkWritable(incident);
      if (incident.slackChannelId !== '') throw invalidState('The incident has a channel');
      if (existing !== undefined) throw invalidState('The provisioning was requested already');
      const text = command.shortTitle ?? incident.shortTitle;
      const shortTitle = shortTitleSlug(text, { required: workspace.short_title_required });
      const chat = { shortTitle, createChannel: true, usergroups };
      const provisioning = requestedProvisioning(command, { chat, incident, now });
      return {
        stores: async (trx) => {
          await incidentStore(trx, workspace.id).setShortTitle(id, shortTitle);
          await provisioningStore(trx).add(ofIncident, provisioning as NewProvisioning);
          return readChatWork(trx, incident);
        },
      };
    },
  });
  dependencies.wakeProvisioner();
  return requested;
}

interface RetryCommand extends Caller {
  id: number;
  /** What to retry of what has failed; default: all. */
  steps: readonly WorkKey[] | undefined;
}

/**
 * Retries the failed steps of an incident's provisioning, and its failed messages (contract: Chat).
 * @throws DomainError `not_found`; `invalid_resource_state` if the incident is archived or none of them has failed
 */
export async function retryProvisioning(
  dependencies: ProvisioningCommandDependencies,
  command: RetryCommand,
): Promise<ChatWork> {
  const { principal, id, steps: keys = WORK_KEYS } = command;
  const { workspace } = principal;
  const ofIncident = { workspaceId: workspace.id, incidentId: id };
  const retried = await runCommand(dependencies, {
    workspace,
    reads: async (trx) => incidentStore(trx, workspace.id).getForUpdate(id),
    decides: (incident, { now }) => {
      checkWritable(incident);
      return {
        stores: async (trx) => {
          const store = provisioningStore(trx);
          const steps = keys.filter((key): key is StepKey => key !== 'channel_updates');
          const retriesMessages =
            keys.includes('channel_updates') && (await channelUpdateStore(trx).retry(ofIncident, now));
          if ((await store.retry(ofIncident, steps, now)) === 0 && !retriesMessages)
            throw invalidState('No step of the provisioning has failed');
          const work = await readChatWork(trx, incident);
          const channel = work.provisioning.steps.find(({ key }) => key === 'slack_channel')?.status;
          // Invitations wait for the channel unless a channel is linked already.
          if (incident.slackChannelId === '' && channel === 'pending')
            await store.makeWait(ofIncident, 'invite_usergroups');
          return work;
        },
      };
    },
  });
  dependencies.wakeProvisioner();
  return retried;
}
