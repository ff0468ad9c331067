import type { Keyring } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, signPrincipal } from './principal.ts';

/**
 * Asks another of our services; bounded in time, and checked against what the two agreed on. While the other one is known
 * to be down, calls fail at once.
 */
export interface InternalClient {
  /** @throws when the service is down, slow, refuses, or answers something else than `schema` */
  get<Schema extends z.ZodType>(
    path: string,
    query: Record<string, string | number>,
    schema: Schema,
  ): Promise<z.output<Schema>>;
  close(): void;
}

const TIMEOUT = 800;

/** One that is down costs a request nothing after a few that tried. */
const BREAKER = {
  timeout: false,
  volumeThreshold: 3,
  errorThresholdPercentage: 50,
  rollingCountTimeout: 5_000,
  resetTimeout: 1_000,
} as const;

export function internalClient(options: { baseUrl: string; self: string; keyring: Keyring }): InternalClient {
  const ask = async (path: string, query: Record<string, string | number>, schema: z.ZodType): Promise<unknown> => {
    const url = new URL(path, options.baseUrl);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      headers: { [PRINCIPAL_HEADER]: signPrincipal(options.keyring, { kind: 'service', name: options.self }) },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}`);
    return schema.parse(await response.json());
  };
  const breaker = new CircuitBreaker(ask, BREAKER);
  return {
    get: async <Schema extends z.ZodType>(path: string, query: Record<string, string | number>, schema: Schema) =>
      (await breaker.fire(path, query, schema)) as z.output<Schema>,
    close: () => breaker.shutdown(),
  };
}
