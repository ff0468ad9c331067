import { z } from 'zod';
import type { ChatChannel } from '../chat.ts';

const slackChannel = z.object({
  id: z.string(),
  name: z.string(),
  /** The user who made it. */
  creator: z.string().optional(),
  /** Unix seconds. */
  created: z.number().catch(0),
  purpose: z.object({ value: z.string() }).optional(),
  is_archived: z.boolean().optional(),
});

export type SlackChannel = z.output<typeof slackChannel>;

// What we read of the answers to Slack's methods; they hold much more.

/** auth.test: whom the token belongs to. */
export const identity = z.object({ user_id: z.string() });

/** conversations.create and conversations.info */
export const oneChannel = z.object({ channel: slackChannel });

/** conversations.list; the cursor of the last page is empty or missing. */
export const channelPage = z.object({
  channels: z.array(slackChannel),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional(),
});

/** usergroups.list */
export const usergroupList = z.object({ usergroups: z.array(z.object({ id: z.string(), handle: z.string() })) });

/** usergroups.users.list */
export const userList = z.object({ users: z.array(z.string()) });

/** conversations.invite, when it refuses somebody. */
export const refusedInvitation = z.object({
  error: z.string(),
  errors: z.array(z.object({ user: z.string().optional(), error: z.string() })).catch([]),
});

export function toChatChannel({ id, name, created, purpose }: SlackChannel, isOurs: boolean): ChatChannel {
  return { id, name, purpose: plain(purpose?.value ?? ''), isOurs, createdAt: created * 1_000 };
}

/** The text as it was given: Slack puts addresses into angle brackets, and escapes three characters. */
const plain = (text: string): string =>
  text
    .replaceAll(/<([a-z]+:[^|>]+)(?:\|[^>]*)?>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
