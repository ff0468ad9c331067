/**
 * `sign-in` begins and ends sessions of browsers: keys that only a cookie carries (contract: Sessions) (ADR 59). There
 * are three ways: a link, which works once within ten minutes, the token of an API key, and the OpenID Connect provider
 * of the workspace, which is asked outside of any transaction. The session begins in one transaction, which locks the
 * workspace's row, uses up the link, ends the oldest sessions of the same origin if there are too many, and records all
 * that in the audit log. Whatever it refuses is rolled back, so a link stays valid at a wrong host, or while another
 * user is signed in and has to be asked. Only the digest of a token is stored, and the secrets of providers are
 * encrypted. A crash before the commit leaves nothing; one after it leaves a session whose token nobody has, and which
 * ends by itself.
 */
import { sendJson } from '@tocsin/http';
import { addMilliseconds, type Clock, type Keyring } from '@tocsin/runtime';
import { z } from 'zod';
import { browserCookie, browserName, LOGIN_LINK_LIFETIME, type SessionCookie } from '../../identity/domain/session.ts';
import { isToken } from '../../identity/domain/token.ts';
import type { OidcChecks } from '../clients/oidc-client.ts';
import { RefusedSignIn } from '../domain/sign-in-refusal.ts';
import type { TokenSignIn } from '../login-links.ts';
import type { OidcSignIn } from '../sign-in-by-oidc.ts';
import { methodNotAllowed, type RequestContext } from '../../requests/http/request-context.ts';
import {
  bearerOf,
  checkSameOrigin,
  OIDC_CALLBACK_PATH,
  OIDC_PATH,
  SESSION_PATH,
  SIGN_IN_PAGE,
} from './session-requests.ts';

/** The origin of the console, the slug of its workspace, and who is signed in there in the browser. */
interface SignInHost {
  origin: string;
  slug: string | undefined;
  findUserId(): Promise<number | undefined>;
}

/** Handles the requests of `SIGN_IN_PATHS`. */
export type SignIn = (context: RequestContext, host: SignInHost) => Promise<void>;

/** How long somebody may take at the provider; milliseconds. */
const FLOW_LIFETIME = LOGIN_LINK_LIFETIME;

/** What the cookie of a sign-in has, encrypted. */
const flow = z.strictObject({
  checks: z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() }),
  expiresAt: z.string(),
});

/** The cookie of the sign-in that a browser has begun, encrypted for the workspace. */
function flowCookies({ isSecure, keyring, clock }: { isSecure: boolean; keyring: Keyring; clock: Clock }) {
  const cookie = browserCookie({ name: 'tocsin-oidc', lifetime: FLOW_LIFETIME, isSecure });
  const contextOf = (workspaceId: number) => `flow ${workspaceId}`;
  return {
    set: (checks: OidcChecks, workspaceId: number): string => {
      const expiresAt = addMilliseconds(clock.now(), FLOW_LIFETIME);
      const { keyId, ciphertext } = keyring.seal(JSON.stringify({ checks, expiresAt }), contextOf(workspaceId));
      return cookie.set(`${keyId}.${ciphertext.toString('base64url')}`);
    },
    /** @throws RefusedSignIn `expired` */
    read: (cookies: string | undefined, workspaceId: number): OidcChecks => {
      const [keyId = '', ciphertext = ''] = (cookie.read(cookies) ?? '').split('.');
      try {
        const sealed = { keyId, ciphertext: Buffer.from(ciphertext, 'base64url') };
        const { checks, expiresAt } = flow.parse(JSON.parse(keyring.open(sealed, contextOf(workspaceId))));
        if (expiresAt > clock.now()) return checks;
      } catch {
        // Of another workspace, changed, or none.
      }
      throw new RefusedSignIn('expired');
    },
    clear: cookie.clear,
  };
}

const redirectUri = (origin: string) => `${origin}${OIDC_CALLBACK_PATH}`;

const redirect = ({ response }: RequestContext, location: string, cookies: string[]) =>
  response.writeHead(303, { Location: location, 'Set-Cookie': cookies, 'Content-Length': 0 }).end();

const browserOf = ({ request }: RequestContext) => browserName(request.headers['user-agent'] ?? '');

/**
 * A sign-in by the provider belongs to the browser that began it: a cookie has its state, nonce and PKCE verifier, encrypted
 * for the workspace. While another user is signed in there, a second cookie has the link that waits for their answer (ADR 65).
 */
export function signIn(options: {
  isSecure: boolean;
  cookie: SessionCookie;
  keyring: Keyring;
  signInByToken: (input: TokenSignIn) => Promise<{ token: string }>;
  oidc: OidcSignIn;
  /** Identities have changed. */
  onSession: () => void;
  clock: Clock;
}): SignIn {
  const { isSecure, cookie, keyring, signInByToken, oidc, onSession, clock } = options;
  const flows = flowCookies({ isSecure, keyring, clock });
  const linkCookie = browserCookie({ name: 'tocsin-link', lifetime: LOGIN_LINK_LIFETIME, isSecure });
  /** The token in the cookie, if it is a link's: people type that of a key. */
  const linkOf = (cookies: string | undefined) => {
    const kept = linkCookie.read(cookies);
    return kept !== undefined && isToken(kept, 'login_link') ? kept : undefined;
  };

  const handlers: Readonly<Record<string, SignIn>> = {
    [`POST ${SESSION_PATH}`]: async (context, { origin, slug, findUserId }) => {
      const { request, response, requestId, target } = context;
      checkSameOrigin(request, origin);
      const { authorization, cookie: cookies } = request.headers;
      const given = authorization === undefined ? linkOf(cookies) : bearerOf(authorization);
      const isConfirmed = new URLSearchParams(target.search).get('replace') === 'true';
      const signedIn = isConfirmed ? undefined : await findUserId();
      const browser = browserOf(context);
      const { token } = await signInByToken({ token: given ?? '', slug, signedIn, browser, requestId });
      onSession();
      const used = authorization === undefined ? [linkCookie.clear()] : [];
      response.writeHead(204, { 'Set-Cookie': [cookie.set(token), ...used] }).end();
    },

    [`GET ${SESSION_PATH}`]: async ({ response }, { slug = '' }) => {
      const { workspace, provider } = await oidc.describe(slug);
      sendJson(response, 200, { oidc: provider !== null, workspace, provider });
    },

    [`GET ${OIDC_PATH}`]: async (context, { origin, slug = '' }) => {
      const { workspaceId, url, checks } = await oidc.begin(slug, redirectUri(origin));
      redirect(context, url, [flows.set(checks, workspaceId)]);
    },

    [`GET ${OIDC_CALLBACK_PATH}`]: async (context, { origin, slug = '', findUserId }) => {
      const { request, requestId, target } = context;
      const checks = flows.read(request.headers.cookie, await oidc.workspaceIdOf(slug));
      const callback = new URL(redirectUri(origin));
      callback.search = target.search;
      const browser = browserOf(context);
      const begun = await oidc.finish({ slug, callback, checks, browser, requestId, signedIn: await findUserId() });
      if (begun.link !== undefined) {
        redirect(context, `${SIGN_IN_PAGE}?by=provider`, [linkCookie.set(begun.link), flows.clear()]);
        return;
      }
      onSession();
      redirect(context, '/app/', [cookie.set(begun.token), flows.clear()]);
    },
  };

  return async (context, host) => {
    const { method, target } = context;
    const handle = handlers[`${method} ${target.path}`];
    if (handle === undefined) {
      const allowed = Object.keys(handlers).map((name) => name.split(' ') as [string, string]);
      throw methodNotAllowed(
        method,
        allowed.filter(([, path]) => path === target.path).map(([name]) => name),
      );
    }
    try {
      await handle(context, host);
    } catch (error) {
      if (!(error instanceof RefusedSignIn)) throw error;
      redirect(context, `${SIGN_IN_PAGE}?refused=${error.reason}`, [flows.clear()]);
    }
  };
}
