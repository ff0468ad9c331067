import { type IdempotencyKeyUse, idempotencyKeyUses, INTERNAL_PATHS, type ServiceName } from '@tocsin/contracts';
import { internalClient, type KeyLookup } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { OWN_SERVICE } from '../domain/route-table.ts';

/** Asks the services what a user has done with an Idempotency-Key. */
export interface KeyLookups {
  /** `missing` has the services that did not answer. */
  find(lookup: KeyLookup): Promise<{ uses: IdempotencyKeyUse[]; missing: string[] }>;
  close(): void;
}

/** The services with creates that accept a key. */
export const KEY_OWNERS = ['incident', 'catalog'] as const satisfies readonly ServiceName[];

export function keyLookups(options: {
  urls: Readonly<Record<(typeof KEY_OWNERS)[number], readonly string[]>>;
  secretKeys: string;
  log: Logger;
}): KeyLookups {
  const { urls, secretKeys, log } = options;
  const clients = KEY_OWNERS.map((service) => ({
    service,
    client: internalClient({ urls: urls[service], self: OWN_SERVICE, service, secretKeys }),
  }));
  return {
    find: async ({ workspaceId, userId, key }) => {
      const query = { workspace_id: workspaceId, user_id: userId, key };
      const missing: string[] = [];
      const uses = await Promise.all(
        clients.map(async ({ service, client }) =>
          client.get(INTERNAL_PATHS.idempotencyKeys, query, idempotencyKeyUses).then(
            (found) => found.uses,
            (error: unknown) => {
              log.info({ err: error, upstream: service }, 'cannot look up an idempotency key');
              missing.push(service);
              return [];
            },
          ),
        ),
      );
      return { uses: uses.flat(), missing };
    },
    close: () => clients.forEach(({ client }) => client.close()),
  };
}
