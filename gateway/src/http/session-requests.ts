import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { DomainError } from '@tocsin/http';
import { isRead } from '../clients/upstream.ts';
import type { SessionCookie } from '../domain/session.ts';
import type { TokenKind } from '../domain/token.ts';

/** The path where a link begins a session. The console's page is below it, so it is outside of the API. */
export const SESSION_PATH = '/app/session';

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
