import { z } from 'zod';
import type { ChatChannel } from '../chat.ts';

const slackChannel = z.object({
  id: z.string(),
  name: z.string(),
  /** The ID of the user who created it. */
  creator: z.string().optional(),
  /** Unix seconds. */
  created: z.number().catch(0),
  purpose: z.object({ value: z.string() }).optional(),
  is_archived: z.boolean().optional(),
  is_private: z.boolean().optional(),
});

export type SlackChannel = z.output<typeof slackChannel>;

// The parts that we use of the responses of Slack's methods.

/** auth.test: the token's user */
export const authTestResponse = z.object({ user_id: z.string() });

/** conversations.create and conversations.info */
export const channelResponse = z.object({ channel: slackChannel });

/** conversations.list; the cursor of the last page is empty or missing */
export const channelListResponse = z.object({
  channels: z.array(slackChannel),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional(),
});

/** usergroups.list */
export const usergroupListResponse = z.object({
  usergroups: z.array(z.object({ id: z.string(), handle: z.string() })),
});

/** usergroups.users.list */
export const usergroupUsersResponse = z.object({ users: z.array(z.string()) });

/** conversations.invite, if it refuses a user */
export const inviteErrorResponse = z.object({
  error: z.string(),
  errors: z.array(z.object({ user: z.string().optional(), error: z.string() })).catch([]),
});

export function toChatChannel(
  { id, name, created, purpose, is_private: isPrivate = false }: SlackChannel,
  isOurs: boolean,
): ChatChannel {
  return { id, name, purpose: unescapeText(purpose?.value ?? ''), isOurs, isPrivate, createdAt: created * 1_000 };
}

/** Restores the original text: Slack puts URLs into angle brackets and escapes three characters. */
const unescapeText = (text: string): string =>
  text
    .replaceAll(/<([a-z]+:[^|>]+)(?:\|[^>]*)?>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
