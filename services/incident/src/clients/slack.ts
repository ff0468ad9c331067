import type { WebClient } from '@slack/web-api';
import { type Chat, ChatError } from './chat.ts';
import { channelPage, identity, oneChannel, type SlackChannel, toChatChannel } from './slack/answers.ts';
import { slackConnection, type SlackOptions } from './slack/connection.ts';
import { inviteUsergroups } from './slack/invitations.ts';

/** As many channels as Slack gives at once. */
const PAGE = 1_000;

/**
 * A Slack workspace as the chat (contract: Chat). It tries nothing twice and waits out nothing: what to do about a fault
 * is for its caller to say.
 */
export function slackChat(options: SlackOptions): Chat {
  const connected = slackConnection(options);

  let userId: string | undefined;
  const askIdentity = async (slack: WebClient) => {
    const { user_id } = identity.parse(await slack.auth.test());
    return (userId = user_id);
  };
  const self = async (slack: WebClient) => userId ?? (await askIdentity(slack));
  const known = async (slack: WebClient, channel: SlackChannel) =>
    toChatChannel(channel, channel.creator === (await self(slack)));

  return {
    check: async () =>
      connected(async (slack) => {
        await askIdentity(slack);
      }),

    createChannel: async (name) =>
      connected(async (slack) => {
        const { channel } = oneChannel.parse(await slack.conversations.create({ name }));
        return toChatChannel(channel, true);
      }),

    setPurpose: async (channel, purpose) =>
      connected(async (slack) => {
        await slack.conversations.setPurpose({ channel, purpose });
      }),

    findChannel: async (name) =>
      connected(async (slack) => {
        let cursor: string | undefined;
        do {
          const page = channelPage.parse(
            await slack.conversations.list({
              types: 'public_channel,private_channel',
              exclude_archived: false,
              limit: PAGE,
              ...(cursor !== undefined && { cursor }),
            }),
          );
          const hit = page.channels.find((channel) => channel.name === name);
          if (hit !== undefined) return known(slack, hit);
          cursor = page.response_metadata?.next_cursor;
        } while (cursor !== undefined && cursor !== '');
        return undefined;
      }),

    getChannel: async (channelId) =>
      connected(async (slack) => {
        const { channel } = oneChannel.parse(await slack.conversations.info({ channel: channelId }));
        // Slack still tells of it, and lets nobody do anything with it.
        if (channel.is_archived === true) throw new ChatError('channel_missing', 'The channel is archived');
        return known(slack, channel);
      }),

    renameChannel: async (channel, name) =>
      connected(async (slack) => {
        await slack.conversations.rename({ channel, name });
      }),

    inviteUsergroups: async (channelId, handles) =>
      connected(async (slack) => inviteUsergroups(slack, { channelId, handles, self: async () => self(slack) })),
  };
}
