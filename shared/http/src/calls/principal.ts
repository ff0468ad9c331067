import { type Principal, type ServicePrincipal, signedPrincipal } from '@tocsin/schemas';
import { boundedCache, type Keyring, openKeyring } from '@tocsin/runtime';

export const PRINCIPAL_HEADER = 'x-tocsin-principal';

/** The purpose of the key with which `issuer` signs its requests to `audience`; only these two have it. */
export const principalPurpose = (issuer: string, audience: string): string => `principal/${issuer}/${audience}`;

/** Milliseconds during which the gateway sends the same principal; a service verifies its signature once. */
export const PRINCIPAL_REUSE = 10_000;
/** Milliseconds: after its last use long enough for a slow request, and for clocks that differ by as much. */
const LIFETIME = PRINCIPAL_REUSE + 30_000;
/** Milliseconds: a principal that expires later than this is rejected, even with a valid signature. */
const MAX_LIFETIME = LIFETIME + 30_000;

/**
 * Builds the header that names the caller of a request: `<payload>.<HMAC-SHA256 of that text>`, both in base64url.
 * @param keyring of `principalPurpose(issuer, audience)`
 */
export function signPrincipal(keyring: Keyring, principal: Principal | ServicePrincipal): string {
  const payload = Buffer.from(JSON.stringify({ principal, expires: Date.now() + LIFETIME })).toString('base64url');
  return `${payload}.${keyring.sign(payload).toString('base64url')}`;
}

/** Verifies principal headers. Returns `undefined` for one that is forged, expired or for another service. */
export interface PrincipalVerifier {
  /** The user, if the gateway signed the header. */
  user(header: string | undefined): Principal | undefined;
  /** The name of the calling service, or `gateway`, if it is one of `callers`. */
  service(header: string | undefined, callers: readonly string[]): string | undefined;
}

/** The size of the cache of verified principals; about four thousand of them. */
const CACHE_BYTES = 8 * 1024 * 1024;

/**
 * Opens the keys for requests to `audience`: the gateway's, and those of its callers.
 * @throws ConfigError if one of them is missing
 */
export function openPrincipalVerifier(options: {
  secretKeys: string;
  audience: string;
  /** The services that may call it. */
  callers: readonly string[];
}): PrincipalVerifier {
  const keyringOf = (issuer: string) => openKeyring(options.secretKeys, principalPurpose(issuer, options.audience));
  const gateway = cachingVerifier(keyringOf('gateway'));
  const services = [
    { name: 'gateway', verify: gateway },
    ...options.callers.map((name) => ({ name, verify: cachingVerifier(keyringOf(name)) })),
  ];
  return {
    user: (header) => {
      const principal = gateway(header);
      return principal?.kind === 'user' ? principal : undefined;
    },
    service: (header, callers) =>
      services.find(({ name, verify }) => callers.includes(name) && verify(header)?.kind === 'service')?.name,
  };
}

interface Verified {
  principal: Principal | ServicePrincipal;
  expires: number;
}

/** Caches verified principals by the header's exact text: the gateway sends the same header many times. */
function cachingVerifier(keyring: Keyring): (header: string | undefined) => Verified['principal'] | undefined {
  const cache = boundedCache<string, Verified>({
    bytes: CACHE_BYTES,
    // The text and the parsed object.
    sizeOf: (_verified, header) => 3 * header.length,
  });
  return (header = '') => {
    const cached = cache.get(header);
    const verified = cached ?? readSigned(keyring, header);
    const remaining = (verified?.expires ?? 0) - Date.now();
    if (verified === undefined || remaining <= 0 || remaining > MAX_LIFETIME) {
      cache.delete(header);
      return undefined;
    }
    if (cached === undefined) cache.set(header, verified);
    return verified.principal;
  };
}

function readSigned(keyring: Keyring, header: string): Verified | undefined {
  const dot = header.indexOf('.');
  const [payload, text] = [header.slice(0, Math.max(dot, 0)), header.slice(dot + 1)];
  const signature = Buffer.from(text, 'base64url');
  // The payload's text is signed. Several texts decode to the signature; only the canonical one is valid.
  if (signature.toString('base64url') !== text || !keyring.verify(payload, signature)) return undefined;
  const { success, data } = signedPrincipal.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
  return success ? deepFreeze(data) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Many requests share the same object. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
