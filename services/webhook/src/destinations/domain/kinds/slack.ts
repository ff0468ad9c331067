import { chat, escapeEntities } from './kind.ts';

/**
 * Slack's incoming webhooks. A section has 3,000 characters at most. Only & < > begin markup that calls people or hides
 * addresses; code has no escape, and would reach from one event into the next.
 */
export const slack = chat({
  limit: 3_000,
  escape: (text) => escapeEntities(text).replaceAll('`', 'ˋ'),
  link: (label, address) => `<${address}|${label}>`,
  body: (texts) => {
    const text = texts.join('\n');
    const section = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
    return { text, blocks: [section], unfurl_links: false, unfurl_media: false };
  },
});
