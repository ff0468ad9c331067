import {
  INTERNAL_PATHS,
  type NewServiceTiers,
  type StoredServiceTiers,
  storedServiceTiers,
  type TiersPreparation,
  tiersPreparation,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';
import { z } from 'zod';

/** The internal calls that a change of a configuration makes. */
export interface ConfigurationServices {
  readTiers(workspaceId: number): Promise<StoredServiceTiers>;
  prepareTiers(list: NewServiceTiers): Promise<TiersPreparation>;
  /** Makes the gateway raise the workspace's version. */
  announce(workspaceId: number): Promise<void>;
  close(): void;
}

/** Milliseconds for one call. */
const TIMEOUT = 2_500;

export function configurationServices(options: {
  urls: Readonly<Record<'gateway' | 'catalog', readonly string[]>>;
  secretKeys: string;
}): ConfigurationServices {
  const { urls, secretKeys } = options;
  const clientOf = (service: 'gateway' | 'catalog') =>
    internalClient({ urls: urls[service], self: 'incident', service, secretKeys, timeout: TIMEOUT });
  const gateway = clientOf('gateway');
  const catalog = clientOf('catalog');
  return {
    readTiers: async (workspaceId) =>
      catalog.get(INTERNAL_PATHS.serviceTiers, { workspace_id: workspaceId }, storedServiceTiers),
    prepareTiers: async (list) => catalog.post(INTERNAL_PATHS.serviceTiers, list, tiersPreparation),
    announce: async (workspaceId) => {
      await gateway.post(INTERNAL_PATHS.configurationChanges, { workspace_id: workspaceId }, z.object({}));
    },
    close: () => [gateway, catalog].forEach((client) => client.close()),
  };
}
