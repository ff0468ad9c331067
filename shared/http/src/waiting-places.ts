import { fairShares, setting } from '@tocsin/runtime';
import { DomainError, shareExceeded } from './errors.ts';

/** How many requests may wait at the same time (contract: Waiting and streaming). */
export interface WaitingPlaces {
  /** Those taken. */
  readonly count: number;
  /**
   * Takes a place. Returns the function that gives it back; calling it again has no effect.
   * @throws DomainError `rate_limited`, or `service_unavailable` if others have taken the places
   */
  take(workspaceId: number): () => void;
}

const OF_WORKSPACE = 100;
/** A waiting request costs some tens of kilobytes. */
export const MAX_WAITING_REQUESTS = 2_500;

/** Of the gateway and of services with operations that wait. */
export const waitingSettings = {
  MAX_WAITING_REQUESTS_PER_WORKSPACE: setting.integer({ min: 1, max: 100_000 }).default(OF_WORKSPACE),
};
/** Seconds. Places become free at any time, because no request waits for longer than two minutes. */
const RETRY_AFTER = 5;

export function waitingPlaces({ ofWorkspace = OF_WORKSPACE, inAll = MAX_WAITING_REQUESTS } = {}): WaitingPlaces {
  const shares = fairShares({ total: inAll, perHolder: ofWorkspace });
  let count = 0;
  return {
    get count() {
      return count;
    },
    take: (workspaceId) => {
      if (!shares.take(workspaceId, 1)) throw refusal(shares.heldBy(workspaceId));
      count += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        count -= 1;
        shares.giveBack(workspaceId, 1);
      };
    },
  };
}

/** Without a waiting request of its own, it is not the workspace that uses the places. */
const refusal = (held: number) =>
  held === 0
    ? new DomainError('service_unavailable', 'Too many requests wait for events', {
        reason: 'waiting_places',
        headers: { 'Retry-After': String(RETRY_AFTER) },
      })
    : shareExceeded(`At least ${held} requests of this workspace wait for events: use fewer readers`, {
        reason: 'waiting_requests',
        seconds: RETRY_AFTER,
      });
