import { FairQueue, type Lease, setting } from '@tocsin/runtime';
import { DomainError, shareExceeded } from '../errors/errors.ts';

/** Those of each workspace that wait at the same time (contract: Waiting and streaming). */
export type WaitingLeases = FairQueue<number>;

const OF_WORKSPACE = 100;
/** A waiting request costs some tens of kilobytes. */
export const MAX_WAITING_REQUESTS = 2_500;

/** Of the gateway and of services with operations that wait. */
export const waitingSettings = {
  MAX_WAITING_REQUESTS_PER_WORKSPACE: setting.integer({ min: 1, max: 100_000 }).default(OF_WORKSPACE),
};
/** Seconds. Leases end at any time, because no request waits for longer than two minutes. */
const RETRY_AFTER = 5;

export const waitingLeases = ({ ofWorkspace = OF_WORKSPACE, inAll = MAX_WAITING_REQUESTS } = {}): WaitingLeases =>
  new FairQueue<number>({ all: inAll, holder: ofWorkspace, leavesAsMuch: true });

/** @throws DomainError `rate_limited`, or `service_unavailable` if others have the leases */
export function leaseToWait(leases: WaitingLeases, workspaceId: number): Lease {
  const lease = leases.tryTake(workspaceId);
  if (lease === undefined) throw refusal(leases.heldBy(workspaceId));
  return lease;
}

/** Without a waiting request of its own, it is not the workspace that uses the leases. */
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
