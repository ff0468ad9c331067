import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { DomainError } from '@tocsin/http';
import { isRead } from '../clients/upstream.ts';
import type { SessionCookie } from '../domain/session.ts';
import type { TokenKind } from '../domain/token.ts';

/** The path where a link begins a session. It is beside the console's pages, outside of the API. */
export const SESSION_PATH = '/app/session';
/** Where a sign-in by the provider of the workspace begins, and where the provider sends the browser back to. */
export const OIDC_PATH = '/app/oidc';
export const OIDC_CALLBACK_PATH = `${OIDC_PATH}/callback`;

export const SIGN_IN_PATHS: ReadonlySet<string> = new Set([SESSION_PATH, OIDC_PATH, OIDC_CALLBACK_PATH]);

/** The token of a request and what it must be: an Authorization header has a key's, a cookie a session's. */
export function credentials(
  { authorization, cookie: cookies }: IncomingHttpHeaders,
  cookie: SessionCookie,
): { token: string; kind: TokenKind } | undefined {
  if (authorization !== undefined) {
    const token = bearerOf(authorization);
    return token === undefined ? undefined : { token, kind: 'key' };
  }
  const token = cookie.read(cookies);
  return token === undefined ? undefined : { token, kind: 'session' };
}

export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];

/**
 * Browsers send cookies with the requests of every site, so that a write must show that the console's own origin sends
 * it (contract: Sessions).
 * @param host the host that the client named
 * @throws DomainError `permission_denied`
 */
export function checkSameOrigin(request: IncomingMessage, host: string): void {
  if (isRead(request)) return;
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site === undefined ? isOriginOf(origin, host) : site === 'same-origin') return;
  throw new DomainError('permission_denied', 'A session must be used from its own origin');
}

const isOriginOf = (origin: string | undefined, host: string): boolean =>
  origin !== undefined && URL.parse(origin)?.host === host.toLowerCase();
