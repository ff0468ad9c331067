import { createHmac } from 'node:crypto';
import type { KindOfDestination } from './kind.ts';

/**
 * Any receiver of JSON: the event as the feed has it, or the workspace's own template. With a credential, it is signed as
 * webhooks are (contract: Webhooks), with the ID of the event.
 */
export const http: KindOfDestination = {
  needs: { url: 'required', credential: 'optional', recipients: 'none', headers: 'optional', template: 'optional' },
  // A string of JSON without its quotation marks.
  markup: { limit: 65_536, escape: (text) => JSON.stringify(text).slice(1, -1), link: (label) => label },
  joins: false,
  message: ([item], { url, credential, headers }) => {
    if (item === undefined) throw new Error('a receiver takes one event');
    const { id, text } = item;
    const time = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', credential).update(`${id}.${time}.${text}`).digest('base64');
    return {
      kind: 'http',
      url,
      headers: {
        ...headers,
        'webhook-id': id,
        'webhook-timestamp': time,
        ...(credential !== '' && { 'webhook-signature': `v1,${signature}` }),
      },
      body: text,
    };
  },
};
