import {
  type Egress,
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
  enableNonRepudiationChecks,
  fetchUserInfo,
  getJwksCache,
  type IDToken,
  type JWKS,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
  setJwksCache,
} from 'openid-client';
import { FairQueue, ownProperty } from '@tocsin/runtime';
import type { GroupMapping } from '../domain/group-mapping.ts';

/** A client at a provider. */
interface OidcRegistration {
  workspaceId: number;
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Whether an address counts as verified if the provider says nothing about it. */
  trustsEmail: boolean;
  groups: Pick<GroupMapping, 'claim' | 'scope'> | null;
  /** Changes with the other properties. */
  version: string;
}

/** What the browser of a sign-in keeps until it comes back. */
export interface OidcChecks {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the provider says of a person; nothing of it is checked for what can be stored. */
export interface OidcClaims {
  issuer: string;
  subject: string;
  email: string | undefined;
  isVerified: boolean;
  name: string | undefined;
  /** Empty without a claim of groups in the registration. */
  groups: string[];
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
  egress: Egress;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  /** Of one request; milliseconds. */
  timeout?: number | undefined;
}

const TIMEOUT = 5_000;
/** Of a response; descriptions and keys of providers have a few thousand. */
const MAX_BYTES = 65_536;
/** How long what a provider says about itself, and its keys, are used; milliseconds. */
const DISCOVERY_AGE = 600_000;
const MAX_DISCOVERED = 200;
/** Sign-ins that wait for a provider. A provider that hangs blocks those of its own workspace. */
const LIMITS = { all: 64, holder: 8 };

/** What a provider says about itself. */
interface Discovered {
  /** When it was asked; the clock of `performance`. */
  at: number;
  version: string;
  server: Promise<ServerMetadata>;
  /** The keys that it signs with, as they were read last. */
  keys?: JWKS;
}

/**
 * Signs people in by OpenID Connect: the authorization code flow with PKCE (RFC 7636), state and nonce, and ID tokens
 * whose signatures are verified with the public keys of the provider.
 */
export function oidcClient(options: OidcClientOptions): OidcClient {
  const fetchSafely = safeFetch(options);
  const discovered = new Map<string, Discovered>();
  /** By the ID of their workspace. */
  const signIns = new FairQueue<number>(LIMITS);

  const discover = (registration: OidcRegistration): Discovered => {
    const { workspaceId, version } = registration;
    const key = String(workspaceId);
    const cached = discovered.get(key);
    if (cached?.version === version && performance.now() - cached.at < DISCOVERY_AGE) return cached;
    discovered.delete(key);
    const [oldest] = discovered.keys();
    if (oldest !== undefined && discovered.size >= MAX_DISCOVERED) discovered.delete(oldest);
    const fresh: Discovered = { at: performance.now(), version, server: describe(registration, fetchSafely) };
    discovered.set(key, fresh);
    // Not kept: the provider may answer the next time.
    fresh.server.catch(() => discovered.get(key) === fresh && discovered.delete(key));
    return fresh;
  };

  const bounded = async <Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result> => {
    const lease = signIns.tryTake(workspaceId);
    if (lease === undefined) throw new ProviderError('unavailable', 'too many sign-ins wait for their provider');
    try {
      return await work();
    } catch (error) {
      throw toProviderError(error);
    } finally {
      lease.release();
    }
  };

  return {
    begin: async (registration, redirectUri) =>
      bounded(registration.workspaceId, async () => {
        const configuration = configure(registration, await discover(registration).server, fetchSafely);
        const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: ['openid', 'email', 'profile', registration.groups?.scope ?? []].flat().join(' '),
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
        const provider = discover(registration);
        const configuration = configure(registration, await provider.server, fetchSafely);
        useKeys(configuration, provider.keys);
        try {
          const tokens = await authorizationCodeGrant(configuration, callback, {
            pkceCodeVerifier: checks.verifier,
            expectedState: checks.state,
            expectedNonce: checks.nonce,
            idTokenExpected: true,
          });
          const claims = tokens.claims();
          if (claims === undefined) throw new ProviderError('refused', 'there is no ID token');
          const { azp } = claims;
          if (azp !== undefined && azp !== registration.clientId)
            throw new ProviderError('refused', 'the ID token was issued to another client');
          return await readPerson(claims, registration, async () =>
            configuration.serverMetadata().userinfo_endpoint === undefined
              ? {}
              : fetchUserInfo(configuration, tokens.access_token, claims.sub),
          );
        } finally {
          const { jwks } = getJwksCache(configuration) ?? {};
          if (jwks !== undefined) provider.keys = jwks;
        }
      }),
  };
}

async function describe({ issuer, clientId }: OidcRegistration, fetchSafely: CustomFetch): Promise<ServerMetadata> {
  const configuration = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: fetchSafely,
  });
  return configuration.serverMetadata();
}

function configure(
  { clientId, clientSecret }: OidcRegistration,
  server: ServerMetadata,
  fetchSafely: CustomFetch,
): Configuration {
  // Basic is the default of the specification (OpenID Connect Discovery, section 3).
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
  const configuration = new Configuration(server, clientId, undefined, authentication(clientSecret));
  configuration[customFetch] = fetchSafely;
  // Only asymmetric signatures, by the keys that the provider publishes.
  enableNonRepudiationChecks(configuration);
  return configuration;
}

/** Seconds; the library reads keys again for a token of an unknown key only if those that it has are as old as this. */
const OLD_ENOUGH = 60;

/** Lets a sign-in use the keys of earlier ones, and new keys of the provider at once. */
function useKeys(configuration: Configuration, jwks: JWKS | undefined): void {
  if (jwks !== undefined) setJwksCache(configuration, { jwks, uat: Math.floor(Date.now() / 1_000) - OLD_ENOUGH });
}

/** A `fetch` with the bounds of requests to addresses that others choose. */
function safeFetch({ egress, resolve = systemResolver(), ca, timeout = TIMEOUT }: OidcClientOptions): CustomFetch {
  const { allowed, proxy } = egress;
  const http = safeHttp({ allows: publicOrAllowed(allowed), resolve, ca, proxy });
  return async (text, { method, headers, body }) => {
    const url = new URL(text);
    if (url.protocol !== 'https:' || findDestinationProblem(url, allowed) !== undefined)
      throw new ProviderError('unavailable', 'it names an address that is not public');
    const form = body instanceof URLSearchParams ? body.toString() : undefined;
    const response = await http.request({
      url: text,
      method: method === 'POST' ? 'POST' : 'GET',
      timeout,
      maxBodyBytes: MAX_BYTES,
      prepare: async () => ({
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(form !== undefined && { body: form }),
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

type Claims = Readonly<Record<string, unknown>>;

/**
 * Reads the claims of an ID token, and asks for those of the user info endpoint if some are missing there. An address and
 * whether it is verified come from the same place.
 * @throws ProviderError
 */
async function readPerson(
  claims: IDToken,
  { trustsEmail, groups }: OidcRegistration,
  askUserInfo: () => Promise<Claims>,
): Promise<OidcClaims> {
  const hasAddress = claims['email'] !== undefined && (trustsEmail || claims['email_verified'] !== undefined);
  const hasGroups = groups === null || Object.hasOwn(claims, groups.claim);
  const info = hasAddress && hasGroups ? {} : await askUserInfo();
  const { email, email_verified: verified } = hasAddress || info['email'] === undefined ? claims : info;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: textOf(email),
    // The boolean (OpenID Connect Core, section 5.1); Amazon Cognito and Apple document the text, too.
    isVerified: verified === true || verified === 'true' || (trustsEmail && verified === undefined),
    name: textOf(claims['name']) ?? textOf(info['name']),
    groups: groups === null ? [] : groupsOf({ ...info, ...claims }, groups.claim),
  };
}

const textOf = (claim: unknown): string | undefined => (typeof claim === 'string' ? claim : undefined);

function groupsOf(claims: Claims, name: string): string[] {
  const groups = ownProperty(claims, name);
  // A person with many groups: their names are somewhere else (OpenID Connect Core, section 5.6.2).
  const elsewhere = claims['_claim_names'];
  if (groups === undefined && typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name))
    throw new ProviderError('refused', `it does not send the claim ${name}, since the person has too many groups`);
  const list = typeof groups === 'string' ? [groups] : (groups ?? []);
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw new ProviderError('refused', `the claim ${name} is no list of texts`);
}
