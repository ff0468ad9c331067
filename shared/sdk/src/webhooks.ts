import { WebhookSignatureError } from './errors.ts';

/** Seconds by which the clocks of sender and receiver may differ. */
const TOLERANCE = 300;

/** Headers of a request, as `fetch`, Node and frameworks have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Seconds that the request may be old; default 300. */
  tolerance?: number | undefined;
  /** Unix seconds; default: the time of this machine. */
  now?: number | undefined;
}

/** The event of a webhook request. `type` and further properties may be others than those of today. */
export interface WebhookEvent {
  /** The same in every attempt: deduplicate by it. */
  id: string;
  type: string;
  schema_version: number;
  occurred_at: string;
  data: Record<string, unknown>;
}

/**
 * Checks that Tocsin has sent a webhook request, and returns its event (contract: Webhooks).
 * @param secret the whole secret, `whsec_` included
 * @param rawBody the body as it arrived: text or bytes, not parsed
 * @throws WebhookSignatureError
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  { tolerance = TOLERANCE, now = Date.now() / 1_000 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!(Math.abs(now - Number(timestamp)) <= tolerance)) throw refusal('The request is too old, or from the future');
  const key = await keyOf(secret);
  const signed = signedBytes(id, timestamp, rawBody);
  for (const signature of signatures) {
    const bytes = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
    // The comparison takes the same time whatever differs.
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed)))
      return JSON.parse(typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody)) as WebhookEvent;
  }
  throw refusal('No signature matches the body and the secret');
}

/** The headers with which Tocsin sends a body. @param timestamp Unix seconds; default: the time of this machine */
export async function signWebhook(
  secret: string,
  { id, timestamp = Math.floor(Date.now() / 1_000), body }: { id: string; timestamp?: number; body: string },
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const signed = signedBytes(id, String(timestamp), body);
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), signed));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${btoa(String.fromCharCode(...bytes))}`,
  };
}

const refusal = (message: string) => new WebhookSignatureError('invalid_signature', message);

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw refusal(`The header ${name} is missing`);
  return value;
}

const keyOf = async (secret: string) =>
  crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

function signedBytes(id: string, timestamp: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  return signed;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
