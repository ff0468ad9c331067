import { generateKeyPairSync } from 'node:crypto';
import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { boundedCache, type Clock } from '@tocsin/runtime';
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { CommandContext } from '../accounts/actor.ts';
import { generateToken } from '../identity/domain/token.ts';
import { adapterOf } from './adapter.ts';
import { connectAgent } from './connect-agent.ts';
import {
  ACCESS_TOKEN_LIFETIME,
  AGENT_SCOPES,
  CODE_LIFETIME,
  isRedirectUri,
  MCP_PATH,
  REFRESH_TOKEN_LIFETIME,
} from './domain/agents.ts';
import type { OAuthClient } from './store/oauth-store.ts';

/** The workspace whose host is the issuer, and its origin there. */
export interface Issuer {
  workspaceId: number;
  origin: string;
}

/** What the signed-in person has decided, and the session in which they have. */
interface Decision {
  isAllowed: boolean;
  context: CommandContext & { actor: { type: 'user' } };
}

/** A request that has arrived and was checked. */
export interface ProviderRequest {
  method: 'GET' | 'POST';
  /** With the query. */
  url: string;
  headers?: Record<string, string>;
  body?: Buffer;
  decision?: Decision;
}

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
} as const;
/** Answers an authorization with the address to go to, which a redirect would hide from the console. */
export const RESPONSE_MODE = 'console';

type Library = typeof import('oidc-provider');

/** What becomes of a request in the library. */
interface Call {
  decision: Decision | undefined;
  failure?: Error;
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);

/** A library that takes 45 MiB and a third of a second of CPU, for those who use it. */
let library: Promise<Library> | undefined;

/** How many issuers are kept: each takes 200 KiB, and a millisecond to make. */
const MAX_ISSUERS = 100;

/** The protocol of OAuth, by `oidc-provider`: one provider for each host of a workspace (ADR 121). */
export function oauthProviders(options: { database: Knex; clock: Clock; onChange: () => void }) {
  const providers = boundedCache<string, Provider>({ bytes: MAX_ISSUERS, sizeOf: () => 1 });
  const calls = new WeakMap<IncomingMessage, Call>();

  const providerOf = async (issuer: Issuer): Promise<Provider> => {
    const key = `${issuer.workspaceId} ${issuer.origin}`;
    const loaded = await (library ??= import('oidc-provider'));
    const provider = providers.get(key) ?? createProvider(loaded, { issuer, calls, ...options });
    providers.set(key, provider);
    return provider;
  };

  return {
    /** @throws what the database throws */
    handle: async (issuer: Issuer, response: ServerResponse, { decision, ...request }: ProviderRequest) => {
      const provider = await providerOf(issuer);
      const incoming = incomingRequest(issuer, request);
      const call: Call = { decision };
      calls.set(incoming, call);
      await provider.callback()(incoming, response);
      if (call.failure !== undefined) throw call.failure;
    },

    /** Finds a client that may be sent a code at this address. */
    findClient: async (issuer: Issuer, id: string, redirectUri: string): Promise<OAuthClient | undefined> => {
      const client = await (await providerOf(issuer)).Client.find(id);
      if (client?.redirectUriAllowed(redirectUri) !== true || !isRedirectUri(redirectUri)) return undefined;
      return { id, name: client.clientName ?? '', redirectUris: [...(client.redirectUris ?? [])] };
    },
  };
}

export type OAuthProviders = ReturnType<typeof oauthProviders>;

/** The library reads a request of its own: the one of the client has been read, and may come through a proxy. */
function incomingRequest({ origin }: Issuer, { method, url, headers, body }: Omit<ProviderRequest, 'decision'>) {
  const { protocol, host } = new URL(origin);
  const request = new IncomingMessage(new Socket());
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  const named = { host, 'x-forwarded-proto': protocol.slice(0, -1), accept: 'application/json', ...length, ...headers };
  Object.assign(request, { method, url, headers: named, httpVersion: '1.1', complete: true });
  request.push(body ?? null);
  if (body !== undefined) request.push(null);
  return request;
}

interface ProviderOptions {
  issuer: Issuer;
  calls: WeakMap<IncomingMessage, Call>;
  database: Knex;
  clock: Clock;
  onChange: () => void;
}

function createProvider(library: Library, options: ProviderOptions): Provider {
  const { issuer, calls } = options;
  const callOf = (request: IncomingMessage) => calls.get(request) as Call;
  const provider = new library.default(issuer.origin, configurationOf(library, { ...options, callOf }));
  provider.proxy = true;
  provider.registerResponseMode(RESPONSE_MODE, (ctx, redirectUri, payload) => {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(payload)) url.searchParams.set(name, String(value));
    ctx.status = 200;
    ctx.body = { redirect_to: url.href };
  });
  provider.on('server_error', ({ req }, error) => {
    callOf(req).failure = error;
  });
  provider.use(async (ctx, next) => {
    await next();
    // It has no sessions of its own.
    ctx.remove('Set-Cookie');
    if (callOf(ctx.req).failure !== undefined) ctx.respond = false;
  });
  const prototype = provider.AccessToken.prototype as unknown as { generateTokenId(): string };
  const generate = prototype.generateTokenId;
  // Of the form of all our tokens, with a prefix of its own.
  prototype.generateTokenId = function generateTokenId() {
    generate.call(this);
    return generateToken('agent');
  };
  return provider;
}

/** Of what an agent gets, not beyond its own end; in seconds. */
const lifetimeOf = (longest: number) => (ctx: KoaContextWithOIDC) =>
  Math.max(1, Math.min(seconds(longest), (ctx.oidc.entities.Grant?.exp ?? 0) - seconds(Date.now())));

function configurationOf(
  { default: LibraryProvider, errors, interactionPolicy }: Library,
  options: ProviderOptions & { callOf: (request: IncomingMessage) => Call },
): Configuration {
  const { issuer, callOf, database, onChange } = options;
  const { workspaceId } = issuer;
  const resource = `${issuer.origin}${MCP_PATH}`;
  const policy = interactionPolicy.base();
  // Whoever gets this far has just been asked.
  policy.get('consent')?.checks.remove('native_client_prompt');
  const session = () => callOf((LibraryProvider.ctx as KoaContextWithOIDC).req).decision?.context.actor.userId;
  return {
    adapter: (name: string) => adapterOf(name, { ...options, workspaceId, errors, resource, session }),
    routes: ROUTES,
    // The library wants a key for ID tokens, of which there are none.
    jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] },
    scopes: [],
    claims: {},
    clientAuthMethods: ['none'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => false,
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'Ed25519',
    },
    interactions: { policy },
    ttl: {
      AccessToken: lifetimeOf(ACCESS_TOKEN_LIFETIME),
      RefreshToken: lifetimeOf(REFRESH_TOKEN_LIFETIME),
      AuthorizationCode: seconds(CODE_LIFETIME),
      Session: seconds(CODE_LIFETIME),
      Interaction: seconds(CODE_LIFETIME),
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: unknown, named: string) => {
          if (named !== resource) throw new errors.InvalidTarget();
          return { scope: AGENT_SCOPES.join(' '), audience: resource, accessTokenFormat: 'opaque' };
        },
      },
    },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    // The library asks for this when it has checked the request.
    loadExistingGrant: async (ctx) => {
      const { decision } = callOf(ctx.req);
      if (decision?.isAllowed !== true) throw new errors.AccessDenied('the person has refused');
      const { clientId: id, clientName: name = '' } = ctx.oidc.client as { clientId: string; clientName?: string };
      const scopes = String(ctx.oidc.params?.['scope']).split(' ');
      const agent = await database
        .transaction(async (trx) => connectAgent(trx, { workspaceId, client: { id, name }, scopes }, decision.context))
        .catch((error: unknown) => {
          throw error instanceof DomainError ? new errors.AccessDenied(error.message) : error;
        });
      onChange();
      return ctx.oidc.provider.Grant.find(String(agent.id));
    },
    renderError: (ctx, out) => {
      ctx.body = out;
    },
  };
}
