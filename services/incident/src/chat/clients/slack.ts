import type { WebClient } from '@slack/web-api';
import { type Chat, ChatError } from './chat.ts';
import {
  channelListResponse,
  authTestResponse,
  channelResponse,
  type SlackChannel,
  toChatChannel,
} from './slack/responses.ts';
import { slackMessages } from './slack/messages.ts';
import { slackConnection, type SlackOptions } from './slack/transport.ts';
import { inviteUsergroups } from './slack/invitations.ts';

/** Channels per page; Slack's maximum. */
const PAGE_SIZE = 1_000;

/**
 * Implements the chat port for a Slack workspace (contract: Chat). It never retries and never waits for a rate limit; the
 * caller decides about retries.
 */
export function slackChat(options: SlackOptions): Chat {
  const withSlack = slackConnection(options);

  let userId: string | undefined;
  const fetchUserId = async (slack: WebClient) => {
    const { user_id } = authTestResponse.parse(await slack.auth.test());
    return (userId = user_id);
  };
  const ownUserId = async (slack: WebClient) => userId ?? (await fetchUserId(slack));
  const withOwnership = async (slack: WebClient, channel: SlackChannel) =>
    toChatChannel(channel, channel.creator === (await ownUserId(slack)));

  return {
    check: async () =>
      withSlack(async (slack) => {
        await fetchUserId(slack);
      }),

    createChannel: async (name, { isPrivate }) =>
      withSlack(async (slack) => {
        const { channel } = channelResponse.parse(
          await slack.conversations.create({ name, ...(isPrivate && { is_private: true }) }),
        );
        return toChatChannel(channel, true);
      }),

    setPurpose: async (channel, purpose) =>
      withSlack(async (slack) => {
        await slack.conversations.setPurpose({ channel, purpose });
      }),

    setTopic: async (channel, topic) =>
      withSlack(async (slack) => {
        await slack.conversations.setTopic({ channel, topic });
      }),

    findChannel: async (name) =>
      withSlack(async (slack) => {
        let cursor: string | undefined;
        do {
          const page = channelListResponse.parse(
            await slack.conversations.list({
              types: 'public_channel,private_channel',
              exclude_archived: false,
              limit: PAGE_SIZE,
              ...(cursor !== undefined && { cursor }),
            }),
          );
          const match = page.channels.find((channel) => channel.name === name);
          if (match !== undefined) return withOwnership(slack, match);
          cursor = page.response_metadata?.next_cursor;
        } while (cursor !== undefined && cursor !== '');
        return undefined;
      }),

    getChannel: async (channelId) =>
      withSlack(async (slack) => {
        const { channel } = channelResponse.parse(await slack.conversations.info({ channel: channelId }));
        // Slack still returns an archived channel but refuses every change to it.
        if (channel.is_archived === true) throw new ChatError('channel_missing', 'The channel is archived');
        return withOwnership(slack, channel);
      }),

    renameChannel: async (channel, name) =>
      withSlack(async (slack) => {
        await slack.conversations.rename({ channel, name });
      }),

    inviteUsergroups: async (channelId, handles) =>
      withSlack(async (slack) =>
        inviteUsergroups(slack, { channelId, handles, fetchOwnUserId: async () => ownUserId(slack) }),
      ),

    ...slackMessages(withSlack),
  };
}
