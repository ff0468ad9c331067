import { openKeyring } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from './principal.ts';

/**
 * Calls another service. Each call has a timeout, and the response is validated. While the service is known to be down,
 * calls fail at once.
 */
export interface InternalClient {
  /** @throws if the service is down or slow, returns an error status, or a body that does not match `schema` */
  get<Schema extends z.ZodType>(
    path: string,
    query: Record<string, string | number>,
    schema: Schema,
  ): Promise<z.output<Schema>>;
  close(): void;
}

/** From the look-up of the address to the last byte of the response; milliseconds. */
const REQUEST_TIMEOUT = 800;
/** More than any response has; a larger one is an error. */
const MAX_RESPONSE_BYTES = 33_554_432;

/** The service refused a call because the workspace of the call uses up its share. It works for other workspaces. */
class ShareExceeded extends Error {}

/** After a few failed calls, further ones fail without waiting for the timeout. */
const BREAKER_OPTIONS = {
  timeout: false,
  volumeThreshold: 3,
  errorThresholdPercentage: 50,
  rollingCountTimeout: 5_000,
  resetTimeout: 1_000,
  errorFilter: (error: unknown) => error instanceof ShareExceeded,
} as const;

/** @throws ConfigError if the key for calls from `self` to `service` is missing */
export function internalClient(options: {
  baseUrl: string;
  self: string;
  service: string;
  secretKeys: string;
}): InternalClient {
  const keyring = openKeyring(options.secretKeys, principalPurpose(options.self, options.service));
  const fetchJson = async (
    path: string,
    query: Record<string, string | number>,
    schema: z.ZodType,
  ): Promise<unknown> => {
    const url = new URL(path, options.baseUrl);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      headers: { [PRINCIPAL_HEADER]: signPrincipal(keyring, { kind: 'service' }) },
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT),
    });
    if (!response.ok) {
      await response.body?.cancel();
      const message = `${url.pathname} returned status ${response.status}`;
      throw response.status === 429 ? new ShareExceeded(message) : new Error(message);
    }
    return schema.parse(JSON.parse(await readText(response)));
  };
  const breaker = new CircuitBreaker(fetchJson, BREAKER_OPTIONS);
  return {
    get: async <Schema extends z.ZodType>(path: string, query: Record<string, string | number>, schema: Schema) =>
      (await breaker.fire(path, query, schema)) as z.output<Schema>,
    close: () => breaker.shutdown(),
  };
}

/** @throws if the body is too large */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop cancels the rest.
    if (length > MAX_RESPONSE_BYTES) throw new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
