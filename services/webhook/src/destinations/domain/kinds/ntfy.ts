import type { KindOfDestination } from './kind.ts';

/** ntfy: a topic is the last part of the URL; longer texts than 4,096 bytes would become attachments. */
export const ntfy: KindOfDestination = {
  needs: { url: 'required', credential: 'optional', recipients: 'none', headers: 'none', template: 'optional' },
  markup: { limit: 1_000, escape: (text) => text, link: (label) => label },
  joins: true,
  message: (items, { url, credential }) => {
    const address = new URL(url);
    const topic = address.pathname.split('/').at(-1) ?? '';
    address.pathname = address.pathname.slice(0, -topic.length);
    const [first] = items;
    const click = items.length === 1 && first?.url !== '' ? first?.url : undefined;
    return {
      kind: 'http',
      url: address.href,
      headers: credential === '' ? {} : { authorization: `Bearer ${credential}` },
      body: JSON.stringify({
        topic,
        title: items.length === 1 ? first?.title : `${items.length} events`,
        message: items.map(({ text }) => text).join('\n'),
        priority: items.some(({ phase }) => phase === 'began') ? 4 : 3,
        ...(click !== undefined && { click }),
      }),
    };
  },
};
