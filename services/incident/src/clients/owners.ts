import {
  type CatalogChanges,
  catalogChanges,
  type CustomFieldChanges,
  customFieldChanges,
  INTERNAL_PATHS,
  type UserChanges,
  userChanges,
} from '@tocsin/contracts';
import { type InternalClient, internalClient } from '@tocsin/http';
import type { Keyring } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';

/** The services whose data this one keeps replicas of; each answers what changed after `since`, and where that leads. */
export interface Owners {
  users(workspaceId: number, since: number): Promise<UserChanges>;
  catalog(workspaceId: number, since: number): Promise<CatalogChanges>;
  customFields(workspaceId: number, since: number): Promise<CustomFieldChanges>;
  close(): void;
}

/** Each owner has a breaker: one that is down costs a request nothing after a few that tried. */
const BREAKER = {
  timeout: false,
  volumeThreshold: 3,
  errorThresholdPercentage: 50,
  rollingCountTimeout: 5_000,
  resetTimeout: 1_000,
} as const;

export function owners(options: {
  urls: { users: string; catalog: string; customFields: string };
  keyring: Keyring;
}): Owners {
  const breakers: CircuitBreaker[] = [];
  const ask = <Changes>(
    baseUrl: string,
    call: (client: InternalClient, query: { workspace_id: number; since: number }) => Promise<Changes>,
  ) => {
    const client = internalClient({ baseUrl, self: 'incident', keyring: options.keyring });
    const breaker = new CircuitBreaker(
      async (workspaceId: number, since: number) => call(client, { workspace_id: workspaceId, since }),
      BREAKER,
    );
    breakers.push(breaker);
    return async (workspaceId: number, since: number) => breaker.fire(workspaceId, since);
  };
  return {
    users: ask(options.urls.users, (client, query) => client.get(INTERNAL_PATHS.userChanges, query, userChanges)),
    catalog: ask(options.urls.catalog, (client, query) =>
      client.get(INTERNAL_PATHS.catalogChanges, query, catalogChanges),
    ),
    customFields: ask(options.urls.customFields, (client, query) =>
      client.get(INTERNAL_PATHS.customFieldChanges, query, customFieldChanges),
    ),
    close: () => breakers.forEach((breaker) => breaker.shutdown()),
  };
}
