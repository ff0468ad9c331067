import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Seconds that a request may be older or newer than this machine's clock. */
const TOLERANCE = 300;

/**
 * Checks the signature of a webhook request (contract: Webhooks).
 * @param options.now milliseconds since the epoch
 * @returns what is wrong with it; undefined if it is valid
 */
export function signatureProblem(options: {
  secret: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  now: number;
}): string | undefined {
  const { secret, headers, body, now } = options;
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  ) as [string, string, string];
  if (id === '' || !/^\d+$/.test(timestamp)) return 'a webhook header is missing or malformed';
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE) return 'the timestamp is too old, or in the future';
  // The key is the whole secret, as text.
  const digest = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  const matches = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return matches ? undefined : 'the signature does not match';
}
