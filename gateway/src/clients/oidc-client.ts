import {
  type AllowedDestinations,
  findDestinationProblem,
  publicOrAllowed,
  type Resolve,
  safeHttp,
  systemResolver,
} from '@tocsin/safe-http';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  type CustomFetch,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';

/** A client at a provider. */
interface OidcRegistration {
  workspaceId: number;
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Changes with the other properties. */
  version: string;
}

/** What the browser of a sign-in keeps until it comes back. */
export interface OidcChecks {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the provider says of a person. */
export interface OidcClaims {
  email: string | undefined;
  isVerified: boolean;
  name: string | undefined;
}

export interface OidcClient {
  /** @returns the address to send the browser to. @throws ProviderError */
  begin(registration: OidcRegistration, redirectUri: string): Promise<{ url: string; checks: OidcChecks }>;
  /** @param callback the redirect URI with the query that the browser came back with. @throws ProviderError */
  finish(registration: OidcRegistration, callback: URL, checks: OidcChecks): Promise<OidcClaims>;
}

/** `unavailable`: the provider does not answer as it should; `refused`: it does not confirm the sign-in. */
export class ProviderError extends Error {
  readonly reason: 'unavailable' | 'refused';

  constructor(reason: ProviderError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface OidcClientOptions {
  allowed: AllowedDestinations;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  /** Of one request; milliseconds. */
  timeout?: number | undefined;
}

const TIMEOUT = 5_000;
/** Of a response; descriptions and keys of providers have a few thousand. */
const MAX_BYTES = 65_536;
/** How long what a provider says about itself is used; milliseconds. */
const DISCOVERY_AGE = 600_000;
const MAX_DISCOVERED = 200;
/** Sign-ins that wait for a provider. A provider that hangs blocks those of its own workspace. */
const MAX_CONCURRENT = { total: 64, workspace: 8 };

/** Signs people in by OpenID Connect: the authorization code flow with PKCE (RFC 7636), state and nonce. */
export function oidcClient(options: OidcClientOptions): OidcClient {
  const fetchSafely = safeFetch(options);
  const discovered = new Map<string, { at: number; version: string; configuration: Promise<Configuration> }>();
  /** The workspaces of the sign-ins that wait. */
  const active: number[] = [];

  const discover = async (registration: OidcRegistration): Promise<Configuration> => {
    const { workspaceId, version } = registration;
    const key = String(workspaceId);
    const cached = discovered.get(key);
    if (cached?.version === version && performance.now() - cached.at < DISCOVERY_AGE) return cached.configuration;
    discovered.delete(key);
    const [oldest] = discovered.keys();
    if (oldest !== undefined && discovered.size >= MAX_DISCOVERED) discovered.delete(oldest);
    const configuration = configure(registration, fetchSafely);
    discovered.set(key, { at: performance.now(), version, configuration });
    // Not kept: the provider may answer the next time.
    configuration.catch(() => discovered.get(key)?.configuration === configuration && discovered.delete(key));
    return configuration;
  };

  const bounded = async <Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result> => {
    const own = active.filter((id) => id === workspaceId).length;
    if (own >= MAX_CONCURRENT.workspace || active.length >= MAX_CONCURRENT.total)
      throw new ProviderError('unavailable', 'too many sign-ins wait for their provider');
    active.push(workspaceId);
    try {
      return await work();
    } catch (error) {
      throw toProviderError(error);
    } finally {
      active.splice(active.indexOf(workspaceId), 1);
    }
  };

  return {
    begin: async (registration, redirectUri) =>
      bounded(registration.workspaceId, async () => {
        const configuration = await discover(registration);
        const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: 'openid email profile',
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        });
        if (url.protocol !== 'https:')
          throw new ProviderError('unavailable', 'its sign-in page is not at an https URL');
        return { url: url.href, checks };
      }),

    finish: async (registration, callback, checks) =>
      bounded(registration.workspaceId, async () => {
        const configuration = await discover(registration);
        const tokens = await authorizationCodeGrant(configuration, callback, {
          pkceCodeVerifier: checks.verifier,
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new ProviderError('refused', 'there is no ID token');
        const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
        const isComplete = claims['email'] !== undefined && claims['email_verified'] !== undefined;
        if (isComplete || !hasUserInfo) return claimsOf(claims);
        return claimsOf({ ...claims, ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)) });
      }),
  };
}

async function configure(registration: OidcRegistration, fetchSafely: CustomFetch): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = registration;
  const found = await discovery(new URL(issuer), clientId, undefined, undefined, { [customFetch]: fetchSafely });
  const server = found.serverMetadata();
  // Basic is the default of the specification (OpenID Connect Discovery, section 3).
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
  const configuration = new Configuration(server, clientId, undefined, authentication(clientSecret));
  configuration[customFetch] = fetchSafely;
  return configuration;
}

/** A `fetch` with the bounds of requests to addresses that others choose. */
function safeFetch({ allowed, resolve = systemResolver(), ca, timeout = TIMEOUT }: OidcClientOptions): CustomFetch {
  const http = safeHttp({ allows: publicOrAllowed(allowed), resolve, ca });
  return async (text, { method, headers, body }) => {
    const url = new URL(text);
    if (url.protocol !== 'https:' || findDestinationProblem(url, allowed) !== undefined)
      throw new ProviderError('unavailable', 'it names an address that is not public');
    const sent = body instanceof URLSearchParams ? body.toString() : undefined;
    const response = await http.request({
      url: text,
      method: method === 'POST' ? 'POST' : 'GET',
      timeout,
      maxBodyBytes: MAX_BYTES,
      prepare: async () => ({
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(sent !== undefined && { body: sent }),
      }),
    });
    if (response.kind !== 'response')
      throw new ProviderError('unavailable', response.kind === 'failure' ? response.reason : response.kind);
    const { status, body: bytes } = response;
    if (status < 200 || status >= 500) throw new ProviderError('unavailable', `it answers with the status ${status}`);
    const type = response.headers['content-type'];
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status,
      headers: type === undefined ? {} : { 'content-type': type },
    });
  };
}

function toProviderError(error: unknown): ProviderError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderError) return cause;
  }
  const { message, code } = error as Error & { code?: unknown };
  return new ProviderError('refused', typeof code === 'string' ? `${code}: ${message}` : message, { cause: error });
}

function claimsOf(claims: Readonly<Record<string, unknown>>): OidcClaims {
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  // Some providers send the text.
  return { email: text('email'), name: text('name'), isVerified: String(claims['email_verified']) === 'true' };
}
