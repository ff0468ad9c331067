import { z } from 'zod';
import type { ChatChannel, ChatPerson } from '../chat.ts';

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

/** auth.test: where the token's user is */
export const teamResponse = z.object({ team_id: z.string(), enterprise_id: z.string().nullish() });

const text = z.string().catch('');
/** users.info; the address is absent without the scope `users:read.email`, and of bots */
export const userResponse = z.object({
  user: z.object({
    team_id: text,
    name: text,
    real_name: text,
    deleted: z.boolean().optional(),
    is_bot: z.boolean().optional(),
    is_email_confirmed: z.boolean().optional(),
    enterprise_user: z.object({ enterprise_id: text }).optional(),
    profile: z.object({ email: z.string().optional(), display_name: text }).optional(),
  }),
});

/** chat.getPermalink */
export const permalinkResponse = z.object({ permalink: z.string().max(2_048) });

/** conversations.invite, if it refuses a user */
export const inviteErrorResponse = z.object({
  error: z.string(),
  errors: z.array(z.object({ user: z.string().optional(), error: z.string() })).catch([]),
});

/** @param team where the connection is */
export function toChatPerson({ user }: z.output<typeof userResponse>, team: z.output<typeof teamResponse>): ChatPerson {
  const { profile, enterprise_user: enterprise } = user;
  const isOwn =
    user.team_id === team.team_id || (enterprise !== undefined && enterprise.enterprise_id === team.enterprise_id);
  const isConfirmed = user.deleted !== true && user.is_bot !== true && user.is_email_confirmed !== false;
  const name = [profile?.display_name, user.real_name, user.name].find((each) => each !== undefined && each !== '');
  return { name: name ?? '', email: isOwn && isConfirmed ? profile?.email : undefined };
}

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
