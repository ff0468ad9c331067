import {
  type CatalogChanges,
  catalogChanges,
  type CustomFieldChanges,
  customFieldChanges,
  INTERNAL_PATHS,
  type UserChanges,
  userChanges,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';

/**
 * The services whose data this service replicates. Each returns what changed after the version `since`, and its current
 * version. A circuit breaker makes calls to an unavailable owner fail at once.
 */
export interface Owners {
  users(workspaceId: number, since: number): Promise<UserChanges>;
  catalog(workspaceId: number, since: number): Promise<CatalogChanges>;
  customFields(workspaceId: number, since: number): Promise<CustomFieldChanges>;
  close(): void;
}

export function owners(options: {
  urls: { users: string; catalog: string; customFields: string };
  secretKeys: string;
}): Owners {
  const { urls, secretKeys } = options;
  const clientOf = (service: string, baseUrl: string) =>
    internalClient({ baseUrl, self: 'incident', service, secretKeys });
  const gateway = clientOf('gateway', urls.users);
  const catalog = clientOf('catalog', urls.catalog);
  const customFields = clientOf('custom-field', urls.customFields);
  return {
    users: async (workspaceId, since) =>
      gateway.get(INTERNAL_PATHS.userChanges, { workspace_id: workspaceId, since }, userChanges),
    catalog: async (workspaceId, since) =>
      catalog.get(INTERNAL_PATHS.catalogChanges, { workspace_id: workspaceId, since }, catalogChanges),
    customFields: async (workspaceId, since) =>
      customFields.get(INTERNAL_PATHS.customFieldChanges, { workspace_id: workspaceId, since }, customFieldChanges),
    close: () => [gateway, catalog, customFields].forEach((client) => client.close()),
  };
}
