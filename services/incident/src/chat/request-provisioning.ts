import { randomBytes } from 'node:crypto';
import { invalidRequest, normaliseList } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { slugify } from './domain/channel-name.ts';
import type { IncidentProperties } from '../incidents/domain/incident.ts';
import type { NewProvisioning } from './store/insert-provisioning.ts';
import { type Caller, eventOrigin } from '@tocsin/resources';

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
    throw invalidRequest('short_title', 'The workspace requires one, with at least one letter a to z or digit');
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
