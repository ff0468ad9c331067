import { chat, escapeMarkdown } from './kind.ts';

/** Mattermost takes 16,383 characters. A text in its Markdown mentions people by `@name`, which calls nobody with a joiner. */
export const mattermost = chat({
  limit: 8_000,
  escape: (text) => escapeMarkdown(text).replaceAll(/@(?=\w)/g, '@\u2060'),
  link: (label, address) => `[${label}](${address})`,
  body: (texts) => ({ text: texts.join('\n\n') }),
});
