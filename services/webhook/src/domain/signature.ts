import { createHmac } from 'node:crypto';
import type { Instant } from '@tocsin/runtime';

export interface Signable {
  eventId: string;
  body: string;
  /** The attempt's moment, not the event's. */
  at: Instant;
  /** Every secret that signs now, the current one first. */
  secrets: readonly string[];
}

/** The headers of one attempt (contract: Webhooks). */
export function signedHeaders({ eventId, body, at, secrets }: Signable): Record<string, string> {
  const timestamp = String(Math.floor(Date.parse(at) / 1_000));
  const sign = (secret: string) =>
    // The key is the secret's text as it is, prefix included.
    `v1,${createHmac('sha256', secret).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}
