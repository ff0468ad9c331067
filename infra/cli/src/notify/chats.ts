/** How a chat takes messages at an incoming webhook. */
export interface Chat {
  /** Characters of the texts of one message, less than what the chat takes. */
  limit: number;
  /** Makes a text of one line that somebody wrote a text without any markup. */
  escape(text: string): string;
  /** @param label is escaped, and the address is of this command */
  link(label: string, address: string): string;
  /** The body of a request. @param texts of the events, together within the limit */
  body(texts: readonly string[]): unknown;
}

/** Words that call everybody, in any chat. A word joiner behind the @ is not visible. */
const withoutCalls = (text: string) => text.replaceAll(/@(?=all|channel|everyone|here)/gi, '@\u2060');

/** With a backslash before what is markup in Markdown, some of it only at the beginning. `{{` begins a date in Teams. */
const escapeMarkdown = (text: string) =>
  withoutCalls(text)
    .replaceAll(/[\\`*_~|[\]<>]|^[-+#]/g, String.raw`\$&`)
    .replaceAll(/\{(?=\{)/g, '{\u2060');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeEntities = (text: string) =>
  withoutCalls(text).replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? '');

export const CHATS = {
  // Slack cuts a section at 3,000 characters. Only & < > begin its markup that calls people or hides addresses; code has
  // no escape, and would reach from one event into the next.
  slack: {
    limit: 3_000,
    escape: (text) => escapeEntities(text).replaceAll('`', 'ˋ'),
    link: (label, address) => `<${address}|${label}>`,
    body: (texts) => {
      const text = texts.join('\n');
      const section = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
      return { text, blocks: [section], unfurl_links: false, unfurl_media: false };
    },
  },
  // A workflow of Teams takes messages of 28 KB.
  teams: {
    limit: 6_000,
    escape: escapeMarkdown,
    link: (label, address) => `[${label}](${address})`,
    body: (texts) => {
      const body = texts.map((text) => ({ type: 'TextBlock', text, wrap: true }));
      const content = { type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' }, body };
      const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
      return { type: 'message', attachments: [attachment] };
    },
  },
  // Google Chat takes messages of 32,000 bytes. Texts of cards have entities; other ones have no escape.
  'google-chat': {
    limit: 8_000,
    escape: (text) => escapeEntities(text).replaceAll('"', '&quot;'),
    link: (label, address) => `<a href="${address}">${label}</a>`,
    body: (texts) => {
      const widgets = texts.map((text) => ({ textParagraph: { text } }));
      const fallbackText = [...texts.join(' ').replaceAll(/<[^<>]*>/g, '')].slice(0, 300).join('');
      return { fallbackText, cardsV2: [{ cardId: 'tocsin', card: { sections: [{ widgets }] } }] };
    },
  },
  // Discord takes 2,000 characters.
  discord: {
    limit: 2_000,
    escape: escapeMarkdown,
    link: (label, address) => `[${label}](<${address}>)`,
    body: (texts) => ({ content: texts.join('\n'), allowed_mentions: { parse: [] } }),
  },
} satisfies Record<string, Chat>;

/** A chat, or a program that takes the event itself. */
export type Receiver = keyof typeof CHATS | 'json';
