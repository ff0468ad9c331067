import {
  type CatalogChangePage,
  catalogChangePage,
  type CustomFieldChangePage,
  customFieldChangePage,
  INTERNAL_PATHS,
  type UserChangePage,
  userChangePage,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';

/** Where a replica continues: after the version and, within later versions, the position that it has. */
export interface ChangesFrom {
  workspaceId: number;
  since: number;
  after: string | undefined;
}

/**
 * The services whose data this service replicates. Each returns a page of what changed. Calls to an owner that is down
 * fail at once.
 */
export interface Owners {
  users(from: ChangesFrom): Promise<UserChangePage>;
  catalog(from: ChangesFrom): Promise<CatalogChangePage>;
  customFields(from: ChangesFrom): Promise<CustomFieldChangePage>;
  close(): void;
}

/** Milliseconds for one page. A request does not wait as long; then the pull continues in the background. */
const PAGE_TIMEOUT = 2_500;

export function owners(options: {
  urls: Readonly<Record<'users' | 'catalog' | 'customFields', readonly string[]>>;
  secretKeys: string;
}): Owners {
  const { urls, secretKeys } = options;
  const clientOf = (service: string, addresses: readonly string[]) =>
    internalClient({ urls: addresses, self: 'incident', service, secretKeys, timeout: PAGE_TIMEOUT });
  const gateway = clientOf('gateway', urls.users);
  const catalog = clientOf('catalog', urls.catalog);
  const customFields = clientOf('custom-field', urls.customFields);
  return {
    users: async (from) => gateway.get(INTERNAL_PATHS.userChangePages, queryOf(from), userChangePage),
    catalog: async (from) => catalog.get(INTERNAL_PATHS.catalogChangePages, queryOf(from), catalogChangePage),
    customFields: async (from) =>
      customFields.get(INTERNAL_PATHS.customFieldChangePages, queryOf(from), customFieldChangePage),
    close: () => [gateway, catalog, customFields].forEach((client) => client.close()),
  };
}

const queryOf = ({ workspaceId, since, after }: ChangesFrom) => ({ workspace_id: workspaceId, since, after });
