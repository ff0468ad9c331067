import {
  committedServiceTiers,
  INTERNAL_PATHS,
  unmanagedReferences,
  type UnmanagedReferences,
  type UserChangePage,
  userChangePage,
} from '@tocsin/schemas';
import { internalClient } from '@tocsin/http';

/** Internal HTTP calls to the gateway and the incident service, each with a timeout; while a service is down, calls to it fail at once. */
export interface InternalServices {
  /** Gets a page of the gateway's users that changed after version `since`, and after the position `after`. */
  userChanges(from: { workspaceId: number; since: number; after: string | undefined }): Promise<UserChangePage>;
  /** Gets the values that incidents name as their service although the catalog has no such service. */
  unmanagedReferences(workspaceId: number): Promise<UnmanagedReferences>;
  /** Gets the version of the latest list of tiers that the incident service has committed. */
  committedTiers(workspaceId: number): Promise<number>;
  close(): void;
}

/** Milliseconds for one page. A request does not wait as long; then the pull continues in the background. */
const PAGE_TIMEOUT = 2_500;

export function internalServices(options: {
  urls: Readonly<Record<'gateway' | 'incident', readonly string[]>>;
  secretKeys: string;
}): InternalServices {
  const { urls, secretKeys } = options;
  const gateway = internalClient({
    urls: urls.gateway,
    self: 'catalog',
    service: 'gateway',
    secretKeys,
    timeout: PAGE_TIMEOUT,
  });
  const incident = internalClient({ urls: urls.incident, self: 'catalog', service: 'incident', secretKeys });
  return {
    userChanges: async ({ workspaceId, ...from }) =>
      gateway.get(INTERNAL_PATHS.userChangePages, { workspace_id: workspaceId, ...from }, userChangePage),
    unmanagedReferences: async (workspaceId) =>
      incident.get(INTERNAL_PATHS.unmanagedReferences, { workspace_id: workspaceId }, unmanagedReferences),
    committedTiers: async (workspaceId) => {
      const query = { workspace_id: workspaceId };
      return (await incident.get(INTERNAL_PATHS.committedServiceTiers, query, committedServiceTiers)).version;
    },
    close: () => [gateway, incident].forEach((client) => client.close()),
  };
}
