import {
  type CatalogChangePage,
  catalogChangePage,
  catalogChanges,
  type CustomFieldChangePage,
  customFieldChangePage,
  customFieldChanges,
  INTERNAL_PATHS,
  type UserChangePage,
  userChangePage,
  userChanges,
} from '@tocsin/contracts';
import { internalClient, pagesOrAll } from '@tocsin/http';

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
    users: pagesOrAll(gateway, {
      pages: { path: INTERNAL_PATHS.userChangePages, schema: userChangePage },
      all: { path: INTERNAL_PATHS.userChanges, schema: userChanges },
      toPage: ({ version, users }) => ({ version, next: null, changes: users.map((user) => ({ version, user })) }),
    }),
    catalog: pagesOrAll(catalog, {
      pages: { path: INTERNAL_PATHS.catalogChangePages, schema: catalogChangePage },
      all: { path: INTERNAL_PATHS.catalogChanges, schema: catalogChanges },
      toPage: ({ version, teams, services, tiers }) => ({
        version,
        next: null,
        changes: [...teams.map((team) => ({ version, team })), ...services.map((service) => ({ version, service }))],
        tiers,
      }),
    }),
    customFields: pagesOrAll(customFields, {
      pages: { path: INTERNAL_PATHS.customFieldChangePages, schema: customFieldChangePage },
      all: { path: INTERNAL_PATHS.customFieldChanges, schema: customFieldChanges },
      toPage: ({ version, fields }) => ({ version, next: null, changes: fields.map((field) => ({ version, field })) }),
    }),
    close: () => [gateway, catalog, customFields].forEach((client) => client.close()),
  };
}
