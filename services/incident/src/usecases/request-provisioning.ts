import { randomBytes } from 'node:crypto';
import { invalid, normaliseList } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { slugify } from '../domain/channel-name.ts';
import type { IncidentProperties } from '../domain/incident.ts';
import type { NewProvisioning } from '../store/insert-provisioning.ts';
import { type Caller, eventWorkspaceOf } from './context.ts';

/** What a request says of the chat, by the names on the wire; validated already. */
export interface WireChat {
  short_title?: string | undefined;
  create_slack_channel?: boolean | undefined;
  invite_usergroups?: readonly string[] | undefined;
}

/**
 * The short title as a piece of a channel's name.
 * @throws DomainError `invalid_request` where the workspace requires one that can stand in a name
 */
export function shortTitleOf({ short_title: text = '' }: WireChat, { required }: { required: boolean }): string {
  const shortTitle = slugify(text);
  if (required && shortTitle === '') {
    throw invalid('short_title', 'The workspace requires one, with at least one letter a to z or digit');
  }
  return shortTitle;
}

/**
 * What a new incident asks to be set up in the chat; `undefined` for nothing.
 * @throws DomainError `invalid_request` for a channel to be made beside one that is linked
 */
export function requestedProvisioning(
  caller: Caller,
  { chat, incident, now }: { chat: WireChat; incident: Partial<IncidentProperties>; now: Instant },
): NewProvisioning | undefined {
  const { create_slack_channel: createChannel = false, invite_usergroups: handles = [] } = chat;
  if (createChannel && (incident.slackChannelId ?? '') !== '') {
    throw invalid('create_slack_channel', 'Must not be true together with a slack_channel_id');
  }
  const usergroups = normaliseList(handles);
  const steps: NewProvisioning['steps'] = [
    ...(createChannel ? [{ key: 'slack_channel' as const, dueAt: now }] : []),
    // People are invited once there is the channel.
    ...(usergroups.length > 0 ? [{ key: 'invite_usergroups' as const, dueAt: createChannel ? null : now }] : []),
  ];
  if (steps.length === 0) return undefined;
  const marker = randomBytes(6).toString('hex');
  return { workspace: eventWorkspaceOf(caller), requestId: caller.requestId, marker, usergroups, steps, now };
}
