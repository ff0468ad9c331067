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
import type { Keyring } from '@tocsin/runtime';

/**
 * The services whose data this one keeps replicas of; each answers what changed after `since`, and where that leads. One
 * that is known to be down fails at once, and costs a request nothing.
 */
export interface Owners {
  users(workspaceId: number, since: number): Promise<UserChanges>;
  catalog(workspaceId: number, since: number): Promise<CatalogChanges>;
  customFields(workspaceId: number, since: number): Promise<CustomFieldChanges>;
  close(): void;
}

export function owners(options: {
  urls: { users: string; catalog: string; customFields: string };
  keyring: Keyring;
}): Owners {
  const clientOf = (baseUrl: string) => internalClient({ baseUrl, self: 'incident', keyring: options.keyring });
  const gateway = clientOf(options.urls.users);
  const catalog = clientOf(options.urls.catalog);
  const customFields = clientOf(options.urls.customFields);
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
