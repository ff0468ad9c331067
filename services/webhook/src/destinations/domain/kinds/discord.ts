import { chat, escapeMarkdown } from './kind.ts';

/** Discord takes 2,000 characters. Without `wait` it responds before it has stored the message. */
export const discord = chat({
  limit: 2_000,
  escape: escapeMarkdown,
  link: (label, address) => `[${label}](<${address}>)`,
  urlOf: (url) => {
    const waiting = new URL(url);
    waiting.searchParams.set('wait', 'true');
    return waiting.href;
  },
  body: (texts) => ({ content: texts.join('\n'), allowed_mentions: { parse: [] } }),
});
