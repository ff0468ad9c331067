import type { Scope } from '@tocsin/schemas';

/** What agents can ask for: what the tools of `tocsin mcp` need. Nothing that could give anybody more (ADR 121). */
export const AGENT_SCOPES: readonly Scope[] = [
  'incidents:read',
  'incidents:write',
  'services:read',
  'teams:read',
  'custom_fields:read',
  'custom_fields:write',
  'configuration:read',
];

const HOUR = 3_600_000;

/** Milliseconds. */
export const AGENT_LIFETIME = 90 * 24 * HOUR;
export const ACCESS_TOKEN_LIFETIME = HOUR;
/** Of a refresh token that is not used. */
export const REFRESH_TOKEN_LIFETIME = 30 * 24 * HOUR;
export const CODE_LIFETIME = 60_000;
/** Of a client that nobody has allowed anything yet. */
export const UNUSED_CLIENT_LIFETIME = 24 * HOUR;

/** Of a user, as with sessions: a further one ends the oldest. */
export const MAX_AGENTS_OF_USER = 20;
/** Of a workspace: a further registration removes the oldest. */
export const MAX_UNUSED_CLIENTS = 500;
/** Of an agent, used ones included: more than it gets in 30 days by a refresh every hour. A further one removes the first to expire. */
export const MAX_TOKENS_OF_AGENT = 1_000;

/** Where the server for agents is, at the host of the workspace. */
export const MCP_PATH = '/mcp';

/** IDs are made here, so others need no look-up. */
export const isClientId = (text: string): boolean => /^[\da-f]{32}$/.test(text);

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a client may be sent a code there: over TLS, or on the machine of the person. */
export function isRedirectUri(text: string): boolean {
  const url = /^[!-~]+$/.test(text) ? URL.parse(text) : null;
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '') return false;
  return url.protocol === (LOOPBACK.has(url.hostname) ? 'http:' : 'https:');
}
