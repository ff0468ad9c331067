import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { DomainError, isRead } from '@tocsin/http';
import type { SessionCookie } from '../../identity/domain/session.ts';
import { isToken, type TokenKind } from '../../identity/domain/token.ts';

/** The path where a link begins a session. It is beside the console's pages, outside of the API. */
export const SESSION_PATH = '/app/session';
/** The page of the console that a link opens. */
export const SIGN_IN_PAGE = '/app/sign-in';
/** Where a sign-in by the provider of the workspace begins, and where the provider sends the browser back to. */
export const OIDC_PATH = '/app/oidc';
export const OIDC_CALLBACK_PATH = `${OIDC_PATH}/callback`;

export const SIGN_IN_PATHS: ReadonlySet<string> = new Set([SESSION_PATH, OIDC_PATH, OIDC_CALLBACK_PATH]);

export interface Credentials {
  token: string;
  kind: TokenKind;
}

/**
 * The token of a request and what it must be: an Authorization header has a key's or an agent's, a cookie a session's.
 * @param options.basic whether the header may have the token as a password
 */
export function credentials(
  { authorization, cookie: cookies }: IncomingHttpHeaders,
  cookie: SessionCookie,
  { basic = false }: { basic?: boolean | undefined } = {},
): Credentials | undefined {
  if (authorization !== undefined) {
    const token = bearerOf(authorization) ?? (basic ? passwordOf(authorization) : undefined);
    return token === undefined ? undefined : { token, kind: isToken(token, 'agent') ? 'agent' : 'key' };
  }
  const token = cookie.read(cookies);
  return token === undefined ? undefined : { token, kind: 'session' };
}

export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];

/** The password of HTTP Basic authentication; the name of the user does not matter. */
function passwordOf(authorization: string): string | undefined {
  const encoded = /^Basic +([\w+/=-]{1,1024})$/i.exec(authorization)?.[1];
  return encoded === undefined ? undefined : /^[^:]*:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}

/**
 * Pages of other sites can make a browser send requests, and use up what its address may send. Nothing of them is looked
 * up or counted. A link to a page is welcome, and only a program of the other site could send a token.
 * @throws DomainError `permission_denied`
 */
export function checkSite({ headers }: IncomingMessage): void {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination, authorization } = headers;
  if (site !== 'cross-site' || destination === undefined || destination === 'document') return;
  if (authorization !== undefined) return;
  throw new DomainError('permission_denied', 'Pages of other sites must not load this');
}

/**
 * Browsers send cookies with the requests of every site, so that a write must show that the console's own origin sends
 * it (contract: Sessions).
 * @param consoleOrigin the origin of the console
 * @throws DomainError `permission_denied`
 */
export function checkSameOrigin(request: IncomingMessage, consoleOrigin: string): void {
  if (isRead(request)) return;
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site === undefined ? isOrigin(origin, consoleOrigin) : site === 'same-origin') return;
  throw new DomainError('permission_denied', 'A session must be used from its own origin');
}

const isOrigin = (origin: string | undefined, consoleOrigin: string): boolean =>
  origin !== undefined && URL.canParse(consoleOrigin) && URL.parse(origin)?.origin === new URL(consoleOrigin).origin;
