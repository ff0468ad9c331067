import { DomainError, drainOf, jsonEqual, leaseToWait, waitingLeases } from '@tocsin/http';
import { type Clock, Gauge, type Logger, type Metrics, startPeriodicTask } from '@tocsin/runtime';
import type { Wait } from '../../upstreams/clients/upstream.ts';
import type { Shares } from '../../limits/domain/shares.ts';
import type { Caller, Identities } from '../../identity/http/identities.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';

/** A request that waits for events, or whose response is a stream of them. */
interface WaitingRequest {
  context: RequestContext;
  caller: Caller;
  wait: Wait;
}

/** The requests that wait (contract: Waiting and streaming). They are not among those under way. */
export interface WaitingRequests {
  /**
   * Adds a request, until its response is closed.
   * @throws DomainError `rate_limited` or `service_unavailable` if there is no place for it
   */
  enter(request: WaitingRequest): void;
  /** Identities have changed: ends the requests whose key no longer allows what it allowed when they began. */
  recheck(): void;
  stop(): Promise<void>;
}

/** Milliseconds between two checks of all keys, for keys that expire, and in case a notice of a change is lost. */
const RECHECK_INTERVAL = 5_000;

export function waitingRequests(options: {
  identities: Identities;
  shares: Pick<Shares, 'waiting' | 'waitingPerWorkspace'>;
  clock: Clock;
  metrics: Metrics;
  log: Logger;
}): WaitingRequests {
  const { identities, shares, clock, log } = options;
  const places = waitingLeases({ ofWorkspace: shares.waitingPerWorkspace, inAll: shares.waiting });
  /** By the digest of their token, so that each token is looked up once. */
  const byDigest = new Map<string, Set<WaitingRequest>>();
  new Gauge({
    name: 'tocsin_gateway_waiting_requests',
    help: 'Requests that wait for events or stream them',
    registers: [options.metrics],
    collect() {
      this.set(places.held);
    },
  });

  const remove = (request: WaitingRequest) => {
    const { digest } = request.caller;
    const requests = byDigest.get(digest);
    requests?.delete(request);
    if (requests?.size === 0) byDigest.delete(digest);
  };

  const checkKey = async (digest: string, requests: ReadonlySet<WaitingRequest>): Promise<void> => {
    const current = await identities.findByDigest(digest);
    const now = clock.now();
    for (const request of requests)
      if (!isSameAccess(request.caller, current, now)) request.wait.refuse(invalidToken());
  };

  const task = startPeriodicTask({
    name: 'checking the keys of waiting requests',
    interval: RECHECK_INTERVAL,
    log,
    work: async () => {
      // A key that cannot be looked up now is checked again next time: without the database no key can be revoked.
      await Promise.allSettled([...byDigest].map(async ([digest, requests]) => checkKey(digest, requests)));
      return false;
    },
  });

  return {
    enter: (request) => {
      const { context, caller, wait } = request;
      const lease = leaseToWait(places, caller.identity.workspace.id);
      const requests = byDigest.get(caller.digest) ?? new Set();
      byDigest.set(caller.digest, requests.add(request));
      const ignoreDrain = drainOf(context.request).onBegin(() => wait.finish());
      context.waitingSince = performance.now();
      context.wait = wait;
      const close = () => {
        lease.release();
        ignoreDrain();
        remove(request);
      };
      if (context.response.destroyed) close();
      else context.response.once('close', close);
    },
    recheck: task.wake,
    stop: task.stop,
  };
}

/** Whether a key that was looked up again still allows the same. */
function isSameAccess({ identity }: Caller, current: Caller | undefined, now: string): boolean {
  if (current === undefined) return false;
  const { expiresAt, scopes, seat, role, workspace } = current.identity;
  return (
    (expiresAt === null || expiresAt > now) &&
    workspace.slug === identity.workspace.slug &&
    jsonEqual({ scopes, seat, role }, { scopes: identity.scopes, seat: identity.seat, role: identity.role })
  );
}

const invalidToken = () =>
  new DomainError('authentication_required', 'The token or what it allows has changed while the request waited', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
