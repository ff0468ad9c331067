/**
 * `oauth` lets people connect agents whose clients cannot send an API key (contract: Agents) (ADR 121). A client finds
 * the documents of this file, registers itself, and sends the person to the console at `/app/authorize`, which asks who
 * calls, and whether the signed-in person allows it. Nothing is stored before they do, except the client, which expires
 * within a day. Then one transaction makes the agent: a key of the kind `agent`, with the rights of the person at each
 * request, which is listed and ended as a session is. `provider.ts` has the protocol: codes, tokens and their checks. A
 * code or refresh token is marked as used in one statement; a second use ends the agent. A crash between that and its
 * new tokens leaves a client that has to ask again.
 */
import { DomainError, sendJson } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Clock } from '@tocsin/runtime';
import { methodNotAllowed } from '../../requests/http/request-context.ts';
import { AGENT_SCOPES, MCP_PATH, UNUSED_CLIENT_LIFETIME } from '../domain/agents.ts';
import { type Issuer, oauthProviders, ROUTES } from '../provider.ts';
import { oauthClientStore } from '../store/oauth-store.ts';
import { consentHandlers, type OAuth, type OAuthHost } from './consent.ts';
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

const MAX_BODY_BYTES = 16_384;

interface Dependencies {
  database: Knex;
  clock: Clock;
  onChange: () => void;
}

export function oauth(dependencies: Dependencies): OAuth {
  const providers = oauthProviders(dependencies);
  const { ask, decide } = consentHandlers({ providers, ...dependencies });
  const send =
    (document: (host: Issuer) => object): OAuth =>
    async ({ response }, host) =>
      sendJson(response, 200, document(host));
  const forward =
    (url: string): OAuth =>
    async ({ request, response }, host) => {
      const body = await readBody(host);
      if (response.destroyed) return;
      const type = request.headers['content-type'];
      const headers = type === undefined ? {} : { 'content-type': type };
      await providers.handle(host, response, { method: 'POST', url, headers, body });
    };
  const handlers = new Map<string, OAuth>([
    [`GET ${RESOURCE_METADATA}`, send(resourceMetadata)],
    [`GET ${RESOURCE_METADATA}${MCP_PATH}`, send(resourceMetadata)],
    [`GET ${SERVER_METADATA}`, send(serverMetadata)],
    [`POST ${REGISTRATION}`, register(dependencies)],
    [`GET ${CONSENT}`, ask],
    [`POST ${CONSENT}`, decide],
    [`POST ${ROUTES.token}`, forward(ROUTES.token)],
    [`POST ${ROUTES.revocation}`, forward(ROUTES.revocation)],
  ]);
  return async (context, host) => {
    const { method, target } = context;
    const handle = handlers.get(`${method} ${target.path}`);
    if (handle !== undefined) return handle(context, host);
    const allowed = ['GET', 'POST'].filter((each) => handlers.has(`${each} ${target.path}`));
    throw methodNotAllowed(method, allowed);
  };
}

const register =
  ({ database, clock }: Dependencies): OAuth =>
  async ({ response }, host) => {
    const body = await readBody(host);
    if (response.destroyed) return;
    const client = readRegistration(body);
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
  };

/** @throws DomainError `request_body_too_large` */
async function readBody(host: OAuthHost): Promise<Buffer> {
  const body = (await host.readBody()) ?? Buffer.alloc(0);
  if (body.length > MAX_BODY_BYTES)
    throw new DomainError('request_body_too_large', `The body has more than ${MAX_BODY_BYTES} bytes`);
  return body;
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
