import { createHmac } from 'node:crypto';
import type { Instant } from '@tocsin/runtime';

export interface SignedMessage {
  eventId: string;
  body: string;
  /** When the attempt is made, not when the event occurred. */
  at: Instant;
  /** All secrets that are valid now, the current one first. */
  secrets: readonly string[];
}

/** The signature headers of one attempt (contract: Webhooks). */
export function signedHeaders({ eventId, body, at, secrets }: SignedMessage): Record<string, string> {
  const timestamp = String(Math.floor(Date.parse(at) / 1_000));
  const sign = (secret: string) =>
    // The HMAC key is the complete text of the secret, including its prefix.
    `v1,${createHmac('sha256', secret).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}
