import { drainOf, leaseToWait, waitingLeases } from '@tocsin/http';
import { Gauge, type Metrics } from '@tocsin/runtime';
import type { Wait } from '../../upstreams/clients/upstream.ts';
import type { Shares } from '../../limits/domain/shares.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';

/** A request that waits for events, or whose response is a stream of them. */
interface WaitingRequest {
  context: RequestContext;
  workspaceId: number;
  wait: Wait;
}

/** The requests that wait (contract: Waiting and streaming). They are not among those under way. */
export interface WaitingRequests {
  /**
   * Adds a request, until its response is closed.
   * @throws DomainError `rate_limited` or `service_unavailable` if there is no place for it
   */
  enter(request: WaitingRequest): void;
}

export function waitingRequests(options: {
  shares: Pick<Shares, 'waiting' | 'waitingPerWorkspace'>;
  metrics: Metrics;
}): WaitingRequests {
  const { shares } = options;
  const places = waitingLeases({ ofWorkspace: shares.waitingPerWorkspace, inAll: shares.waiting });
  new Gauge({
    name: 'tocsin_gateway_waiting_requests',
    help: 'Requests that wait for events or stream them',
    registers: [options.metrics],
    collect() {
      this.set(places.held);
    },
  });

  return {
    enter: ({ context, workspaceId, wait }) => {
      const lease = leaseToWait(places, workspaceId);
      const ignoreDrain = drainOf(context.request).onBegin(() => wait.finish());
      context.waitingSince = performance.now();
      context.wait = wait;
      const close = () => {
        lease.release();
        ignoreDrain();
      };
      if (context.response.destroyed) close();
      else context.response.once('close', close);
    },
  };
}
