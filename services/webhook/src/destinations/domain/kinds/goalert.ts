import type { KindOfDestination } from './kind.ts';

/**
 * GoAlert's generic API, whose URL has the key of the integration. It opens and closes alerts, and has no request that
 * acknowledges one. A summary has 1,024 characters at most.
 */
export const goalert: KindOfDestination = {
  needs: { url: 'required', credential: 'none', recipients: 'none', headers: 'none', template: 'none' },
  joins: false,
  takes: ({ phase }) => phase === 'began' || phase === 'ended',
  message: ([item], { url }) => {
    if (item === undefined) throw new Error('GoAlert takes one event');
    const { key, reference, title, what, url: link } = item;
    return {
      kind: 'http',
      url,
      body: JSON.stringify({
        summary: [...`${reference} ${title}`].slice(0, 1_000).join(''),
        details: [what, link].filter((part) => part !== '').join('\n'),
        dedup: key,
        ...(item.phase === 'ended' && { action: 'close' }),
      }),
    };
  },
};
