import { inSpan, openKeyring, requestSpan, traceHeaders } from '@tocsin/runtime';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from './principal.ts';
import { serviceBreaker } from './service-breaker.ts';

/**
 * Calls another service. Each call has a timeout, and the response is validated. While the service is known to be down,
 * calls fail at once.
 */
export interface InternalClient {
  /**
   * @throws if the service is down or slow, or returns a body that does not match `schema`
   * @throws UnexpectedStatus if it returns an error status
   */
  get<Schema extends z.ZodType>(
    path: string,
    query: Record<string, string | number | undefined>,
    schema: Schema,
  ): Promise<z.output<Schema>>;
  close(): void;
}

/** A response of another service with an error status. */
export class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(path: string, status: number) {
    super(`${path} returned status ${status}`);
    this.status = status;
  }
}

/** From the look-up of the address to the last byte of the response; milliseconds. */
const REQUEST_TIMEOUT = 800;
/** More than any response has; a larger one is an error. */
const MAX_RESPONSE_BYTES = 33_554_432;

/**
 * @param options.timeout milliseconds for one call with its response; 800 by default
 * @throws ConfigError if the key for calls from `self` to `service` is missing
 */
export function internalClient(options: {
  baseUrl: string;
  self: string;
  service: string;
  secretKeys: string;
  timeout?: number;
}): InternalClient {
  const { baseUrl, self, service, secretKeys, timeout = REQUEST_TIMEOUT } = options;
  const keyring = openKeyring(secretKeys, principalPurpose(self, service));
  const breaker = serviceBreaker(baseUrl);

  /** Records whether the service can be reached. */
  const send = async (url: URL): Promise<Response> => {
    const slow = setTimeout(() => breaker.probe(), REQUEST_TIMEOUT);
    try {
      const response = await fetch(url, {
        headers: { ...traceHeaders(), [PRINCIPAL_HEADER]: signPrincipal(keyring, { kind: 'service' }) },
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
      });
      breaker.recordResponse();
      return response;
    } catch (error) {
      const { name } = error as Error;
      if (name === 'TimeoutError') breaker.probe();
      else breaker.recordFailure(error as Error);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  };

  return {
    get: async <Schema extends z.ZodType>(
      path: string,
      query: Record<string, string | number | undefined>,
      schema: Schema,
    ) => {
      if (!breaker.closed) throw new Error(`the service ${service} is down`);
      const url = new URL(path, baseUrl);
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, String(value));
      }
      return inSpan(requestSpan('GET', url, url.pathname), async (span) => {
        const response = await send(url);
        span?.setAttribute('http.response.status_code', response.status);
        if (!response.ok) {
          await response.body?.cancel();
          throw new UnexpectedStatus(url.pathname, response.status);
        }
        return schema.parse(JSON.parse(await readText(response)));
      });
    },
    close: () => breaker.stop(),
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
