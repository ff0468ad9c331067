import { INTERNAL_PATHS, type QuotaUse, quotaUse, type ServiceName } from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { OWN_SERVICE } from '../domain/route-table.ts';

/** Asks the services how much of the quotas that they enforce a workspace uses. */
export interface QuotaUses {
  /** By the names of the quotas; without those of a service that does not answer in time. */
  read(workspaceId: number): Promise<QuotaUse['used']>;
  close(): void;
}

/** The services that enforce quotas. */
const OWNERS = ['incident', 'catalog', 'custom-field'] as const satisfies readonly ServiceName[];

export function quotaUses(options: {
  urls: Readonly<Record<(typeof OWNERS)[number], readonly string[]>>;
  secretKeys: string;
  log: Logger;
}): QuotaUses {
  const { urls, secretKeys, log } = options;
  const clients = OWNERS.map((service) => ({
    service,
    client: internalClient({ urls: urls[service], self: OWN_SERVICE, service, secretKeys }),
  }));
  return {
    read: async (workspaceId) => {
      const uses = clients.map(async ({ service, client }) =>
        client.get(INTERNAL_PATHS.quotaUse, { workspace_id: workspaceId }, quotaUse).then(
          ({ used }) => used,
          (error: unknown) => {
            log.info({ err: error, upstream: service }, 'cannot read what a workspace uses of its quotas');
            return {};
          },
        ),
      );
      return Object.assign({}, ...(await Promise.all(uses))) as QuotaUse['used'];
    },
    close: () => clients.forEach(({ client }) => client.close()),
  };
}
