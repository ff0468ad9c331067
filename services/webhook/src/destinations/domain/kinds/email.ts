import type { KindOfDestination } from './kind.ts';

/** Mail to users of the workspace, by the server that the operator has set. */
export const email: KindOfDestination = {
  needs: { url: 'none', credential: 'none', recipients: 'required', headers: 'none', template: 'optional' },
  markup: { limit: 20_000, escape: (text) => text, link: (label, address) => `${label} (${address})` },
  joins: true,
  message: (items, { recipients }) => {
    const [first] = items;
    const subject =
      items.length === 1 ? `${first?.reference} ${first?.title}: ${first?.what}` : `${items.length} events`;
    return {
      kind: 'mail',
      to: recipients,
      subject: `[Tocsin] ${[...subject].slice(0, 150).join('')}`,
      text: items.map(({ text }) => text).join('\n\n'),
    };
  },
};
