/**
 * `identity` finds out who calls: the workspace by the host (`domain/host.ts`), and the key with its owner by the
 * SHA-256 of the token. For a service, the caller is a signed principal, which no other service accepts (ADR 18). What
 * was looked up, and what was not there, is cached for up to 30 seconds, and used only while the version of all
 * identities was read less than 800 milliseconds ago. Every change raises this version in its transaction and notifies
 * all gateways: so it applies within a second, also in a gateway that misses the notice (contract: Authentication) (ADR
 * 2). Look-ups for invented tokens and hosts are bounded (`lookup-cache.ts`). Without the database, requests are
 * refused once the version is too old.
 */
import type { Principal } from '@tocsin/schemas';
import { PRINCIPAL_REUSE, principalPurpose, signPrincipal } from '@tocsin/http';
import { type Keyring, openKeyring } from '@tocsin/runtime';
import { permissionsOf } from '../domain/roles.ts';
import { digestOf, isToken, type TokenKind } from '../domain/token.ts';
import type { Identity, IdentityStore, TokenOfWorkspace } from '../store/identity-store.ts';
import { lookupCache } from './lookup-cache.ts';
import { versionCheck } from './version-check.ts';

/** An identity, and the signed principals that prove it to the services. */
export interface Caller {
  identity: Identity;
  /** Of the token. */
  digest: string;
  /** Returns the principal header for this service; other services refuse it, and it expires within seconds. */
  principalFor(service: string): string;
}

export interface Identities {
  findWorkspaceId(slug: string): Promise<number | undefined>;
  /** Does not check the expiry, because an identity may expire while it is cached. */
  findByToken(slug: string, token: string, kind: TokenKind): Promise<Caller | undefined>;
  /** The same as `findByToken`, by the digest of the token. */
  findByDigest(token: TokenOfWorkspace): Promise<Caller | undefined>;
  /** Removes everything from the caches, after a change. */
  clear(): void;
}

/** How old what is cached may be; milliseconds. */
export interface IdentityAges {
  /** A gateway that misses the notice of a change still applies the change within a second. */
  version: number;
  /** Bounds how long a change takes that somebody makes by hand in the database. */
  entry: number;
}

const AGES: IdentityAges = { version: 800, entry: 30_000 };
const MEBIBYTE = 1_048_576;

/** Unknown tokens and hosts cost the database at most 40 queries a second of each kind. */
const LOOKUP = { keysPerQuery: 500, concurrentQueries: 4, maxWaiting: 5_000, pauseAfterMiss: 100 };

/**
 * @param signers the keyrings for the gateway's requests to each service, by the service's name
 */
export function identities(
  store: IdentityStore,
  signers: ReadonlyMap<string, Keyring>,
  ages: IdentityAges = AGES,
): Identities {
  const workspaces = lookupCache({
    ...LOOKUP,
    bytes: 4 * MEBIBYTE,
    ttl: ages.entry,
    find: async (slugs) => new Map(Array.from(await store.findWorkspaceIds(slugs), ([slug, id]) => [slug, { id }])),
  });
  const callers = lookupCache({
    ...LOOKUP,
    bytes: 32 * MEBIBYTE,
    ttl: ages.entry,
    find: async (keys) =>
      new Map(
        (await store.findByTokens(keys.map(ofCacheKey))).map(({ identity, ...token }): [string, Caller] => [
          toCacheKey(token),
          { identity, digest: token.digest, principalFor: principalsOf(identity, signers) },
        ]),
      ),
  });
  const clear = () => {
    workspaces.clear();
    callers.clear();
  };
  const confirm = versionCheck({ ttl: ages.version, find: store.findVersion, onChange: clear });
  const findByDigest = async (token: TokenOfWorkspace): Promise<Caller | undefined> => {
    const confirmed = confirm();
    if (confirmed !== undefined) await confirmed;
    return callers.get(toCacheKey(token));
  };
  return {
    findWorkspaceId: async (slug) => {
      await confirm();
      return (await workspaces.get(slug))?.id;
    },
    findByToken: async (slug, token, kind) =>
      isToken(token, kind) ? findByDigest({ slug, digest: digestOf(token) }) : undefined,
    findByDigest,
    clear,
  };
}

/** A slug and a digest have no space. */
const toCacheKey = ({ slug, digest }: TokenOfWorkspace): string => `${slug} ${digest}`;

function ofCacheKey(key: string): TokenOfWorkspace {
  const [slug = '', digest = ''] = key.split(' ');
  return { slug, digest };
}

/** Opens the keys that sign the gateway's requests to these services. */
export const principalSigners = (secretKeys: string, services: readonly string[]): ReadonlyMap<string, Keyring> =>
  new Map(services.map((service) => [service, openKeyring(secretKeys, principalPurpose('gateway', service))]));

/**
 * Signs for each service at its first request, and again when the principal is `PRINCIPAL_REUSE` old or the clock has been
 * set: services compare its times with theirs.
 */
function principalsOf(identity: Identity, signers: ReadonlyMap<string, Keyring>): Caller['principalFor'] {
  const principal = principalOf(identity);
  const headers = new Map<string, { text: string; signedAt: number }>();
  return (service) => {
    const cached = headers.get(service);
    const now = Date.now();
    const age = now - (cached?.signedAt ?? 0);
    if (cached !== undefined && age >= 0 && age < PRINCIPAL_REUSE) return cached.text;
    const signer = signers.get(service);
    if (signer === undefined) throw new Error(`there is no key for the ${service} service`);
    const text = signPrincipal(signer, principal);
    headers.set(service, { text, signedAt: now });
    return text;
  };
}

/** What the services learn of a caller. */
export const principalOf = (identity: Identity): Principal => {
  const { workspace, userId, keyId, firstKeyId, keyName, keyPrefix, scopes, seat, role } = identity;
  return {
    kind: 'user',
    workspace,
    user_id: userId,
    key_id: keyId,
    ...(firstKeyId !== null && { first_key_id: firstKeyId }),
    key: { name: keyName, prefix: keyPrefix },
    scopes,
    seat,
    permissions: [...permissionsOf(role)],
  };
};
