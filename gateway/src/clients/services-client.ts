import type { ServiceName } from '@tocsin/contracts';
import { type InternalClient, internalClient } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import type { z } from 'zod';
import { OWN_SERVICE } from '../domain/route-table.ts';

/** The services that the gateway itself asks something. */
const ASKED = ['incident', 'catalog', 'custom-field'] as const satisfies readonly ServiceName[];

/** Asks several services the same, at the same time. */
export interface ServicesClient {
  /** `missing` has the services that did not answer in time. */
  ask<Schema extends z.ZodType>(question: {
    services: readonly (typeof ASKED)[number][];
    path: string;
    query: Readonly<Record<string, string | number>>;
    answer: Schema;
  }): Promise<{ answers: z.output<Schema>[]; missing: string[] }>;
  close(): void;
}

export function servicesClient(options: {
  urls: Readonly<Record<(typeof ASKED)[number], readonly string[]>>;
  secretKeys: string;
  log: Logger;
}): ServicesClient {
  const { urls, secretKeys, log } = options;
  const clients = new Map<string, InternalClient>(
    ASKED.map((service) => [service, internalClient({ urls: urls[service], self: OWN_SERVICE, service, secretKeys })]),
  );
  return {
    ask: async ({ services, path, query, answer }) => {
      const missing: string[] = [];
      const answers = await Promise.all(
        services.map(async (service) => {
          try {
            return await clients.get(service)?.get(path, query, answer);
          } catch (error) {
            log.info({ err: error, upstream: service, path }, 'a service did not answer');
            missing.push(service);
            return undefined;
          }
        }),
      );
      return { answers: answers.filter((each) => each !== undefined), missing };
    },
    close: () => clients.forEach((client) => client.close()),
  };
}
