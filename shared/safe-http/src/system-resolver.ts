import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Looks a name up. Rejects with an error whose code is the name server's response (`ENOTFOUND`), or `ETIMEOUT`
 * without one.
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * How long the addresses of one family wait for the answer about the other one; milliseconds. Some name servers never
 * answer queries for AAAA (RFC 8305, section 3, and RFC 4074).
 */
const GRACE = 200;

/**
 * Queries the name servers directly, for IPv4 and IPv6 at once. The system's `getaddrinfo` would occupy one of the few
 * threads of the pool until it returns, and cannot be cancelled.
 * @param options.servers `address:port`, instead of the system's
 */
export function systemResolver(options: { servers?: readonly string[] } = {}): Resolve {
  return async (host, signal) => {
    // RFC 6761: always loopback, never sent to a name server.
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const addresses: string[] = [];
    const errors: unknown[] = [];
    const lookups = [resolver.resolve4(host), resolver.resolve6(host)].map(async (lookup) =>
      lookup.then(
        (addressesOfFamily) => addresses.push(...addressesOfFamily),
        (error: unknown) => errors.push(error),
      ),
    );
    try {
      await Promise.race(lookups);
      // Without an address the other answer decides, however late it is.
      await Promise.race([
        Promise.all(lookups),
        ...(addresses.length > 0 ? [delay(GRACE, undefined, { ref: false })] : []),
      ]);
      if (addresses.length > 0) return [...addresses];
      throw mostSevere(errors);
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  };
}

/** A failed query outweighs a negative answer for the other family: the name may still have an address there. */
function mostSevere(errors: readonly unknown[]): Error {
  return (errors.find((error) => !isNegativeAnswer(error)) ?? errors[0]) as Error;
}

/** Whether the name servers replied that the name does not exist or has no address. */
export function isNegativeAnswer(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}
