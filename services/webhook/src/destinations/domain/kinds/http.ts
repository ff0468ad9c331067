import { signedHeaders } from '../../../requests/domain/signature.ts';
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
    const { id: eventId, text } = item;
    const at = new Date().toISOString();
    const { 'webhook-signature': signature, ...unsigned } = signedHeaders({
      ...{ eventId, body: text, at, secrets: [credential] },
    });
    return {
      kind: 'http',
      url,
      headers: { ...headers, ...unsigned, ...(credential !== '' && { 'webhook-signature': signature ?? '' }) },
      body: text,
    };
  },
};
