import type { ServerResponse } from 'node:http';
import { DomainError } from '@tocsin/http';
import type { RequestWindows } from '../clients/request-windows.ts';

export interface RateLimits {
  /** All authenticated requests of a workspace share one limit. @throws DomainError `rate_limited` */
  workspace(response: ServerResponse, workspaceId: number, limit: number | null): Promise<void>;
  /** Anonymous requests and failed authentication, by where they come from. @throws DomainError `rate_limited` */
  anonymous(response: ServerResponse, network: string): Promise<void>;
  /** Who reads the API's description uses up nothing else. @throws DomainError `rate_limited` */
  documents(response: ServerResponse, network: string): Promise<void>;
}

/** Counts a request and tells the client where it stands, in every answer (contract: Limits). */
export function rateLimits(windows: RequestWindows, defaults: { workspace: number; anonymous: number }): RateLimits {
  const spend = async (response: ServerResponse, key: string, limit: number): Promise<void> => {
    const { requests, remaining } = await windows.count(key);
    const seconds = Math.max(1, Math.ceil(remaining / 1_000));
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - requests));
    response.setHeader('X-RateLimit-Reset', seconds);
    if (requests <= limit) return;
    throw new DomainError('rate_limited', `More than ${limit} requests in a minute`, {
      details: { retry_after_seconds: seconds },
      headers: { 'Retry-After': String(seconds) },
    });
  };
  return {
    workspace: async (response, id, limit) => spend(response, `workspace:${id}`, limit ?? defaults.workspace),
    anonymous: async (response, network) => spend(response, `client:${network}`, defaults.anonymous),
    documents: async (response, network) => spend(response, `reader:${network}`, defaults.anonymous),
  };
}
