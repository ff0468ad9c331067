import {
  INTERNAL_PATHS,
  unmanagedReferences,
  type UnmanagedReferences,
  type UserChanges,
  userChanges,
} from '@tocsin/contracts';
import { internalClient } from '@tocsin/http';
import type { Keyring } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';

/** The services that this one asks; each call is bounded in time and fails at once while its service is known to be down. */
export interface Neighbours {
  /** The gateway's users that changed after `since`, and where that leads. */
  users(workspaceId: number, since: number): Promise<UserChanges>;
  /** What incidents name as their service without its being one. */
  unmanagedReferences(workspaceId: number): Promise<UnmanagedReferences>;
  close(): void;
}

/** One that is down costs a request nothing after a few that tried. */
const BREAKER = {
  timeout: false,
  volumeThreshold: 3,
  errorThresholdPercentage: 50,
  rollingCountTimeout: 5_000,
  resetTimeout: 1_000,
} as const;

export function neighbours(options: { urls: { users: string; incidents: string }; keyring: Keyring }): Neighbours {
  const clientOf = (baseUrl: string) => internalClient({ baseUrl, self: 'catalog', keyring: options.keyring });
  const gateway = clientOf(options.urls.users);
  const incidents = clientOf(options.urls.incidents);
  const users = new CircuitBreaker(
    async (workspaceId: number, since: number) =>
      gateway.get(INTERNAL_PATHS.userChanges, { workspace_id: workspaceId, since }, userChanges),
    BREAKER,
  );
  const references = new CircuitBreaker(
    async (workspaceId: number) =>
      incidents.get(INTERNAL_PATHS.unmanagedReferences, { workspace_id: workspaceId }, unmanagedReferences),
    BREAKER,
  );
  return {
    users: async (workspaceId, since) => users.fire(workspaceId, since),
    unmanagedReferences: async (workspaceId) => references.fire(workspaceId),
    close: () => [users, references].forEach((breaker) => breaker.shutdown()),
  };
}
