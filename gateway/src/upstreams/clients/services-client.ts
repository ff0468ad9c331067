import type { ServiceName } from '@tocsin/schemas';
import { internalClient, UnexpectedStatus } from '@tocsin/http';
import { METHODS_PATH, methodsSchema } from '@tocsin/http/app';
import type { Logger } from '@tocsin/runtime';
import type { z } from 'zod';
import { OWN_SERVICE } from '../../routes/domain/route-table.ts';
import type { Upstreams } from './upstreams.ts';

export interface ServicesClient {
  /**
   * The methods of a path of a service; undefined: it is of a release that does not tell.
   * @throws if it does not answer in time
   */
  methodsAt(service: string, path: string): Promise<readonly string[] | undefined>;
  /** Sends a service a command, which may arrive twice. @throws if it does not answer in time */
  command<Schema extends z.ZodType>(
    service: ServiceName,
    command: { path: string; body: object; answer: Schema },
  ): Promise<z.output<Schema>>;
  /** Asks several services the same, at the same time. `missing` has those that did not answer in time. */
  ask<Schema extends z.ZodType>(question: {
    services: readonly ServiceName[];
    path: string;
    query: Readonly<Record<string, string | number>>;
    answer: Schema;
  }): Promise<{ answers: z.output<Schema>[]; missing: string[] }>;
}

/** @param options.timeout milliseconds for one call, if not that of all calls between services */
export function servicesClient(options: {
  upstreams: Upstreams['byService'];
  secretKeys: string;
  log: Logger;
  timeout?: number;
}): ServicesClient {
  const { upstreams, secretKeys, log, timeout } = options;
  const clients = new Map(
    [...upstreams].map(([service, { addresses }]) => [
      service,
      internalClient({ addresses, self: OWN_SERVICE, service, secretKeys, ...(timeout !== undefined && { timeout }) }),
    ]),
  );
  return {
    methodsAt: async (service, path) => {
      try {
        return (await clients.get(service)?.get(METHODS_PATH, { path }, methodsSchema))?.methods;
      } catch (error) {
        if (error instanceof UnexpectedStatus && error.status === 404) return undefined;
        throw error;
      }
    },
    command: async (service, { path, body, answer }) => {
      const client = clients.get(service);
      if (client === undefined) throw new Error(`there is no service ${service}`);
      return client.post(path, body, answer);
    },
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
  };
}
