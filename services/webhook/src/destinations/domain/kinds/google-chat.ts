import { chat, escapeEntities } from './kind.ts';

/** Google Chat takes messages of 32,000 bytes. Texts of cards have entities; other ones have no escape. */
export const googleChat = chat({
  limit: 8_000,
  escape: (text) => escapeEntities(text).replaceAll('"', '&quot;'),
  link: (label, address) => `<a href="${address}">${label}</a>`,
  body: (texts) => {
    const widgets = texts.map((text) => ({ textParagraph: { text } }));
    const fallbackText = [...texts.join(' ').replaceAll(/<[^<>]*>/g, '')].slice(0, 300).join('');
    return { fallbackText, cardsV2: [{ cardId: 'tocsin', card: { sections: [{ widgets }] } }] };
  },
});
