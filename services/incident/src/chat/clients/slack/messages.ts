import { WebAPIPlatformError } from '@slack/web-api';
import { ownProperty } from '@tocsin/runtime';
import type { Chat } from '../chat.ts';
import { permalinkResponse, teamResponse, toChatPerson, userResponse } from './responses.ts';
import type { SlackConnection } from './transport.ts';

/** Without markup, these characters alone begin references, which call people or hide addresses. */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
export const escapeText = (text: string) =>
  text.replaceAll(/[&<>]/g, (character) => ownProperty(ENTITIES, character) ?? '');

/** Slack adds nothing to a message. */
const PLAIN = { parse: 'none', unfurl_links: false, unfurl_media: false } as const;

/** Error codes of users whom the connection does not know. */
const NO_USER: ReadonlySet<string> = new Set(['user_not_found', 'user_not_visible']);

/** The methods of the port for messages, and for who writes them. */
export const slackMessages = (
  withSlack: SlackConnection,
): Pick<Chat, 'postMessage' | 'postMarkup' | 'findPerson' | 'getPermalink'> => ({
  postMessage: async (channel, text) =>
    withSlack(async (slack) => {
      await slack.chat.postMessage({ channel, text: escapeText(text), mrkdwn: false, ...PLAIN });
    }),

  postMarkup: async (channel, text) =>
    withSlack(async (slack) => {
      await slack.chat.postMessage({ channel, text, ...PLAIN });
    }),

  findPerson: async (user) =>
    withSlack(async (slack) => {
      const team = teamResponse.parse(await slack.auth.test());
      try {
        return toChatPerson(userResponse.parse(await slack.users.info({ user })), team);
      } catch (error) {
        if (error instanceof WebAPIPlatformError && NO_USER.has(error.data.error)) return undefined;
        throw error;
      }
    }),

  getPermalink: async (channel, message) =>
    withSlack(async (slack) => {
      const response = await slack.chat.getPermalink({ channel, message_ts: message });
      return permalinkResponse.parse(response).permalink;
    }),
});
