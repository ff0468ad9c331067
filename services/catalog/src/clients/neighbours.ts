import {
  INTERNAL_PATHS,
  unmanagedReferences,
  type UnmanagedReferences,
  type UserChanges,
  userChanges,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';
import type { Keyring } from '@tocsin/runtime';

/** The services that this one asks; each call is bounded in time and fails at once while its service is known to be down. */
export interface Neighbours {
  /** The gateway's users that changed after `since`, and where that leads. */
  users(workspaceId: number, since: number): Promise<UserChanges>;
  /** What incidents name as their service without its being one. */
  unmanagedReferences(workspaceId: number): Promise<UnmanagedReferences>;
  close(): void;
}

export function neighbours(options: { urls: { users: string; incidents: string }; keyring: Keyring }): Neighbours {
  const clientOf = (baseUrl: string) => internalClient({ baseUrl, self: 'catalog', keyring: options.keyring });
  const gateway = clientOf(options.urls.users);
  const incidents = clientOf(options.urls.incidents);
  return {
    users: async (workspaceId, since) =>
      gateway.get(INTERNAL_PATHS.userChanges, { workspace_id: workspaceId, since }, userChanges),
    unmanagedReferences: async (workspaceId) =>
      incidents.get(INTERNAL_PATHS.unmanagedReferences, { workspace_id: workspaceId }, unmanagedReferences),
    close: () => [gateway, incidents].forEach((client) => client.close()),
  };
}
