import { Resolver } from 'node:dns/promises';

/**
 * Looks a name up. Rejects with an error whose code is the name server's response (`ENOTFOUND`), or `ETIMEOUT`
 * without one.
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

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
    try {
      const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      if (addresses.length > 0) return addresses;
      throw mostSevere(results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])));
    } finally {
      signal.removeEventListener('abort', cancel);
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
