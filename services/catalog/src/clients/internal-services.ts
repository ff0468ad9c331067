import {
  INTERNAL_PATHS,
  unmanagedReferences,
  type UnmanagedReferences,
  type UserChanges,
  userChanges,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';

/** Internal HTTP calls to the gateway and the incident service, each with a timeout and a circuit breaker per service. */
export interface InternalServices {
  /** Gets the gateway's users that changed after version `since`, and the version that includes these changes. */
  userChanges(workspaceId: number, since: number): Promise<UserChanges>;
  /** Gets the values that incidents name as their service although the catalog has no such service. */
  unmanagedReferences(workspaceId: number): Promise<UnmanagedReferences>;
  close(): void;
}

export function internalServices(options: {
  urls: { gateway: string; incident: string };
  secretKeys: string;
}): InternalServices {
  const { urls, secretKeys } = options;
  const gateway = internalClient({ baseUrl: urls.gateway, self: 'catalog', service: 'gateway', secretKeys });
  const incident = internalClient({ baseUrl: urls.incident, self: 'catalog', service: 'incident', secretKeys });
  return {
    userChanges: async (workspaceId, since) =>
      gateway.get(INTERNAL_PATHS.userChanges, { workspace_id: workspaceId, since }, userChanges),
    unmanagedReferences: async (workspaceId) =>
      incident.get(INTERNAL_PATHS.unmanagedReferences, { workspace_id: workspaceId }, unmanagedReferences),
    close: () => [gateway, incident].forEach((client) => client.close()),
  };
}
