/**
 * `limits` bounds what clients use (contract: Limits): connections of a network (`connection-limits.ts`), requests,
 * cost and bytes of a workspace in a minute and requests of a network without a valid token (this file), and the bytes
 * that a workspace writes in an hour (`written-bytes.ts`). `window-counter.ts` counts in fixed windows that all
 * gateways share in Redis. A request far below its limits does not wait for that: it is counted a few milliseconds
 * later, so each further gateway may exceed a limit by what is not confirmed yet (ADR 41). What only the end of a
 * request tells is added then (`usage-meter.ts`). While Redis is down or slow, each gateway counts in its own memory,
 * and no request is refused for that. A gateway that dies loses what it has not sent yet, or counted in memory.
 */
import type { ServerResponse } from 'node:http';
import { shareExceeded } from '@tocsin/http';
import type { Amounts, RequestCounter, WindowUsage } from '../clients/window-counter.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import { bytesExceeded, secondsOf, type UsageMeter, windowOf } from './usage-meter.ts';
import type { WrittenBytes } from './written-bytes.ts';

export interface RateLimits {
  /**
   * All authenticated requests of a workspace share its limits of requests, cost and bytes, and its writes that of written
   * bytes.
   * @param workspace `limit` is in requests a minute, `null` for the default
   * @returns a promise if the request has to wait until it is counted
   * @throws DomainError `rate_limited`
   */
  workspace(
    context: RequestContext,
    workspace: { id: number; limit: number | null; cost: number },
  ): void | Promise<void>;
  /** Requests without a valid token, by the client's network. @throws DomainError `rate_limited` */
  anonymous(response: ServerResponse, network: string): Promise<void>;
  /** Requests for the API's description; they count separately from others. @throws DomainError `rate_limited` */
  documents(response: ServerResponse, network: string): Promise<void>;
}

export interface RateLimitDefaults {
  /** Requests a minute. */
  workspace: number;
  anonymous: number;
  costPerRequest: number;
  bytesPerRequest: number;
}

/** A workspace with a very low limit of requests can still send one that is expensive or large. */
const MIN_REQUESTS = 60;

/** Counts a request and sets the limit headers of its response (contract: Limits). */
export function rateLimits(
  { counter, meter, written }: { counter: RequestCounter; meter: UsageMeter; written: WrittenBytes },
  defaults: RateLimitDefaults,
): RateLimits {
  const consume = (response: ServerResponse, { requests, remaining }: WindowUsage, limit: number): void => {
    const seconds = secondsOf(remaining);
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - requests));
    response.setHeader('X-RateLimit-Reset', seconds);
    if (requests <= limit) return;
    throw shareExceeded(`More than ${limit} requests in a minute`, { reason: 'requests_a_minute', seconds });
  };

  return {
    workspace: (context, { id, limit, cost }) => {
      const limits = limitsOf(limit ?? defaults.workspace, defaults);
      meter.watch(context, { id, limit: limits.bytes });
      const check = (usage: WindowUsage) => {
        consume(context.response, usage, limits.requests);
        checkUsage(usage, cost, limits);
        written.watch(context, id);
      };
      const earlier = meter.take(id);
      const usage = counter.count(windowOf(id), { ...earlier, cost: cost + earlier.cost }, limits);
      return usage instanceof Promise ? usage.then(check) : check(usage);
    },
    anonymous: async (response, network) =>
      consume(response, await counter.count(`client:${network}`), defaults.anonymous),
    documents: async (response, network) =>
      consume(response, await counter.count(`reader:${network}`), defaults.anonymous),
  };
}

const limitsOf = (requests: number, { costPerRequest, bytesPerRequest }: RateLimitDefaults): Amounts => ({
  requests,
  cost: Math.max(requests, MIN_REQUESTS) * costPerRequest,
  bytes: Math.max(requests, MIN_REQUESTS) * bytesPerRequest,
});

/** Only what was used before counts: a request that begins below the limit is served, however much it takes. */
function checkUsage(usage: WindowUsage, ownCost: number, limits: Amounts): void {
  if (usage.cost - ownCost >= limits.cost)
    throw shareExceeded(
      `The requests of this minute cost more than ${limits.cost}: lists that search or filter by custom fields cost more than others, and an import costs its events`,
      { reason: 'cost_a_minute', seconds: secondsOf(usage.remaining) },
    );
  if (usage.bytes >= limits.bytes) throw bytesExceeded(limits.bytes, usage.remaining);
}
