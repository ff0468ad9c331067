import { chat, escapeMarkdown } from './kind.ts';

/** A workflow of Microsoft Teams, which takes an Adaptive Card of 28 KB. */
export const teams = chat({
  limit: 6_000,
  escape: escapeMarkdown,
  link: (label, address) => `[${label}](${address})`,
  body: (texts) => {
    const body = texts.map((text) => ({ type: 'TextBlock', text, wrap: true }));
    const content = { type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' }, body };
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
    return { type: 'message', attachments: [attachment] };
  },
});
