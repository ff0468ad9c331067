import type { Keyring } from '@tocsin/runtime';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, signPrincipal } from './principal.ts';

/** Asks another of our services; bounded in time, and checked against what the two agreed on. */
export interface InternalClient {
  /** @throws when the service is down, slow, refuses, or answers something else than `schema` */
  get<Schema extends z.ZodType>(
    path: string,
    query: Record<string, string | number>,
    schema: Schema,
  ): Promise<z.output<Schema>>;
}

const TIMEOUT = 800;

export function internalClient(options: { baseUrl: string; self: string; keyring: Keyring }): InternalClient {
  return {
    async get(path, query, schema) {
      const url = new URL(path, options.baseUrl);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
      const response = await fetch(url, {
        headers: { [PRINCIPAL_HEADER]: signPrincipal(options.keyring, { kind: 'service', name: options.self }) },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT),
      });
      if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}`);
      return schema.parse(await response.json());
    },
  };
}
