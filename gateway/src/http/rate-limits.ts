import type { ServerResponse } from 'node:http';
import { shareExceeded } from '@tocsin/http';
import type { RequestCounter } from '../clients/request-counter.ts';

export interface RateLimits {
  /** All authenticated requests of a workspace share one limit. @throws DomainError `rate_limited` */
  workspace(response: ServerResponse, workspaceId: number, limit: number | null): Promise<void>;
  /** Requests without a valid token, by the client's network. @throws DomainError `rate_limited` */
  anonymous(response: ServerResponse, network: string): Promise<void>;
  /** Requests for the API's description; they count separately from others. @throws DomainError `rate_limited` */
  documents(response: ServerResponse, network: string): Promise<void>;
}

/** Counts a request and sets the limit headers of its response (contract: Limits). */
export function rateLimits(counter: RequestCounter, defaults: { workspace: number; anonymous: number }): RateLimits {
  const consume = async (response: ServerResponse, key: string, limit: number): Promise<void> => {
    const { requests, remaining } = await counter.count(key);
    const seconds = Math.max(1, Math.ceil(remaining / 1_000));
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - requests));
    response.setHeader('X-RateLimit-Reset', seconds);
    if (requests <= limit) return;
    throw shareExceeded(`More than ${limit} requests in a minute`, { reason: 'requests_a_minute', seconds });
  };
  return {
    workspace: async (response, id, limit) => consume(response, `workspace:${id}`, limit ?? defaults.workspace),
    anonymous: async (response, network) => consume(response, `client:${network}`, defaults.anonymous),
    documents: async (response, network) => consume(response, `reader:${network}`, defaults.anonymous),
  };
}
