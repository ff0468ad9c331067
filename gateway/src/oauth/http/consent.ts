import { DomainError, invalidRequest, sendJson } from '@tocsin/http';
import type { Clock } from '@tocsin/runtime';
import type { Identity } from '../../identity/store/identity-store.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import { checkSameOrigin } from '../../sign-in/http/session-requests.ts';
import { AGENT_SCOPES } from '../domain/agents.ts';
import { type Issuer, type OAuthProviders, RESPONSE_MODE, ROUTES } from '../provider.ts';

/** The issuer, and who is signed in there in the browser. */
export interface OAuthHost extends Issuer {
  findSession(): Promise<Identity | undefined>;
  /** Undefined if the request has none, or its client has gone. */
  readBody(): Promise<Buffer | undefined>;
}

/** Handles a request of OAuth. */
export type OAuth = (context: RequestContext, host: OAuthHost) => Promise<void>;

/** What a client may send the person with, besides scopes; the rest is not for us, or decided here. */
const PARAMETERS = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'state', 'code_challenge', 'code_challenge_method', 'resource'],
]);

/** Where the console asks what a client wants, and says what the person has decided. */
export function consentHandlers({ providers, clock }: { providers: OAuthProviders; clock: Clock }): {
  ask: OAuth;
  decide: OAuth;
} {
  /** @throws DomainError if nobody is signed in, or the client may not send people here */
  const readConsent = async ({ target }: RequestContext, host: OAuthHost) => {
    const session = await host.findSession();
    if (session === undefined) throw new DomainError('authentication_required', 'Sign in first');
    const query = new URLSearchParams(target.search);
    const redirectUri = query.get('redirect_uri') ?? '';
    const client = await providers.findClient(host, query.get('client_id') ?? '', redirectUri);
    if (client === undefined)
      throw invalidRequest('client_id', 'Is not a registered client with this redirect_uri: connect the agent again');
    const requested = query.get('scope')?.split(' ') ?? AGENT_SCOPES;
    const scopes = AGENT_SCOPES.filter((scope) => requested.includes(scope) && session.scopes.includes(scope));
    if (scopes.length === 0) throw invalidRequest('scope', `Must have one of ${AGENT_SCOPES.join(', ')} that you have`);
    return { session, query, client, redirectUri, scopes };
  };
  return {
    ask: async (context, host) => {
      const { client, redirectUri, scopes } = await readConsent(context, host);
      sendJson(context.response, 200, { client_name: client.name, redirect_host: new URL(redirectUri).host, scopes });
    },
    decide: async (context, host) => {
      const { request, response, requestId } = context;
      checkSameOrigin(request, host.origin);
      const { session, query, scopes } = await readConsent(context, host);
      const isAllowed = query.get('decision') === 'allow';
      const parameters = new URLSearchParams([...query].filter(([name]) => PARAMETERS.has(name)));
      parameters.set('scope', scopes.join(' '));
      parameters.set('response_mode', RESPONSE_MODE);
      const actor = { type: 'user', userId: session.userId, keyId: session.keyId, scopes: session.scopes } as const;
      await providers.handle(host, response, {
        ...{ method: 'GET', url: `${ROUTES.authorization}?${parameters.toString()}` },
        // The library asks for its session, which is this one, only if there is a cookie.
        headers: { cookie: '_session=console' },
        decision: { isAllowed, context: { actor, requestId, now: clock.now() } },
      });
    },
  };
}
