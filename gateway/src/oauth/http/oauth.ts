/**
 * `oauth` lets people connect agents whose clients cannot send an API key (contract: Agents) (ADR 121). A client finds
 * the documents of this file, registers itself, and sends the person to the console at `/app/authorize`, which asks who
 * calls, and whether the signed-in person allows it. Nothing is stored before they do, except the client, which expires
 * within a day. Then one transaction makes the agent: a key of the kind `agent`, with the rights of the person at each
 * request, which is listed and ended as a session is. `provider.ts` has the protocol: codes, tokens and their checks. A
 * code or refresh token is marked as used in one statement; a second use ends the agent. A crash between that and its
 * new tokens leaves a client that has to ask again.
 */
import { DomainError, invalidRequest, sendJson } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Clock } from '@tocsin/runtime';
import type { Identity } from '../../identity/store/identity-store.ts';
import { methodNotAllowed, type RequestContext } from '../../requests/http/request-context.ts';
import { checkSameOrigin } from '../../sign-in/http/session-requests.ts';
import { AGENT_SCOPES, MCP_PATH, UNUSED_CLIENT_LIFETIME } from '../domain/agents.ts';
import { type Issuer, oauthProviders, RESPONSE_MODE, ROUTES } from '../provider.ts';
import { oauthClientStore } from '../store/oauth-store.ts';
import { readRegistration } from './registration.ts';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';
const REGISTRATION = '/oauth/register';
/** Where the console asks what a client wants, and says what the person has decided. */
const CONSENT = '/oauth/consent';

export const OAUTH_PATHS: ReadonlySet<string> = new Set([
  ...[RESOURCE_METADATA, RESOURCE_METADATA + MCP_PATH, SERVER_METADATA, REGISTRATION, CONSENT],
  ...[ROUTES.token, ROUTES.revocation],
]);

/** The issuer, and who is signed in there in the browser. */
interface OAuthHost extends Issuer {
  findSession(): Promise<Identity | undefined>;
  /** Undefined if the request has none, or its client has gone. */
  readBody(): Promise<Buffer | undefined>;
}

/** Handles the requests of `OAUTH_PATHS`. */
export type OAuth = (context: RequestContext, host: OAuthHost) => Promise<void>;

/** What a client may send the person with; the rest is not for us, or decided here. */
const PARAMETERS = [
  ...['client_id', 'redirect_uri', 'response_type', 'state', 'code_challenge', 'code_challenge_method', 'resource'],
];

const MAX_BODY_BYTES = 16_384;

export function oauth(options: { database: Knex; clock: Clock; onChange: () => void }): OAuth {
  const { database, clock } = options;
  const providers = oauthProviders(options);

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

  const forward =
    (url: string): OAuth =>
    async ({ request, response }, host) => {
      const body = await host.readBody();
      if (response.destroyed) return;
      checkSize(body);
      const type = request.headers['content-type'];
      const headers = type === undefined ? {} : { 'content-type': type };
      await providers.handle(host, response, { method: 'POST', url, headers, body: body ?? Buffer.alloc(0) });
    };

  const handlers = new Map<string, OAuth>([
    ...[RESOURCE_METADATA, RESOURCE_METADATA + MCP_PATH].map((path): [string, OAuth] => [
      `GET ${path}`,
      async ({ response }, host) => sendJson(response, 200, resourceMetadata(host)),
    ]),
    [`GET ${SERVER_METADATA}`, async ({ response }, host) => sendJson(response, 200, serverMetadata(host))],
    [`POST ${ROUTES.token}`, forward(ROUTES.token)],
    [`POST ${ROUTES.revocation}`, forward(ROUTES.revocation)],
    [
      `POST ${REGISTRATION}`,
      async ({ response }, host) => {
        const body = await host.readBody();
        if (response.destroyed) return;
        checkSize(body);
        const client = readRegistration(body ?? Buffer.alloc(0));
        if ('error' in client) {
          sendJson(response, 400, client);
          return;
        }
        const now = clock.now();
        const expiresAt = addMilliseconds(now, UNUSED_CLIENT_LIFETIME);
        await oauthClientStore(database, host.workspaceId).insert(client, { now, expiresAt });
        sendJson(response, 201, {
          client_id: client.id,
          client_id_issued_at: Math.floor(Date.parse(now) / 1_000),
          client_name: client.name,
          redirect_uris: client.redirectUris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        });
      },
    ],
    [
      `GET ${CONSENT}`,
      async (context, host) => {
        const { client, redirectUri, scopes } = await readConsent(context, host);
        sendJson(context.response, 200, {
          client_name: client.name,
          redirect_host: new URL(redirectUri).host,
          scopes,
        });
      },
    ],
    [
      `POST ${CONSENT}`,
      async (context, host) => {
        const { request, response, requestId } = context;
        checkSameOrigin(request, host.origin);
        const { session, query, scopes } = await readConsent(context, host);
        const isAllowed = query.get('decision') === 'allow';
        const parameters = new URLSearchParams([...query].filter(([name]) => PARAMETERS.includes(name)));
        parameters.set('scope', scopes.join(' '));
        parameters.set('response_mode', RESPONSE_MODE);
        const actor = { type: 'user', userId: session.userId, keyId: session.keyId, scopes: session.scopes } as const;
        await providers.handle(host, response, {
          ...{ method: 'GET', url: `${ROUTES.authorization}?${parameters}` },
          // The library asks for its session, which is this one, only if there is a cookie.
          headers: { cookie: '_session=console' },
          decision: { isAllowed, context: { actor, requestId, now: clock.now() } },
        });
      },
    ],
  ]);

  return async (context, host) => {
    const { method, target } = context;
    const handle = handlers.get(`${method} ${target.path}`);
    if (handle !== undefined) return handle(context, host);
    const allowed = ['GET', 'POST'].filter((each) => handlers.has(`${each} ${target.path}`));
    throw methodNotAllowed(method, allowed);
  };
}

/** @throws DomainError `request_body_too_large` */
function checkSize(body: Buffer | undefined): void {
  if ((body?.length ?? 0) > MAX_BODY_BYTES)
    throw new DomainError('request_body_too_large', `The body has more than ${MAX_BODY_BYTES} bytes`);
}

/** RFC 9728. */
const resourceMetadata = ({ origin }: Issuer) => ({
  resource: `${origin}${MCP_PATH}`,
  authorization_servers: [origin],
  scopes_supported: AGENT_SCOPES,
  bearer_methods_supported: ['header'],
  resource_name: 'Tocsin',
});

/** RFC 8414. */
const serverMetadata = ({ origin }: Issuer) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/app/authorize`,
  token_endpoint: `${origin}${ROUTES.token}`,
  registration_endpoint: `${origin}${REGISTRATION}`,
  revocation_endpoint: `${origin}${ROUTES.revocation}`,
  scopes_supported: AGENT_SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
});
