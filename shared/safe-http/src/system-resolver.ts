import { Resolver } from 'node:dns/promises';

/**
 * Looks a name up. Rejects with the code of the name server's answer (`ENOTFOUND`), or of there being none (`ETIMEOUT`).
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks the name servers directly, for both families at once. The system's `getaddrinfo` would occupy one of the few
 * threads of the pool until it answers, and nothing could stop it.
 * @param options.servers `address:port`, instead of the system's
 */
export function systemResolver(options: { servers?: readonly string[] } = {}): Resolve {
  return async (host, signal) => {
    // Never asked of a name server: the name is defined.
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length > 0) return addresses;
      throw worst(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : [])));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** That there is no such name, or no address of one family, says less than that nobody could be asked. */
function worst(errors: readonly unknown[]): Error {
  return (errors.find((error) => !isNegativeAnswer(error)) ?? errors[0]) as Error;
}

/** The name servers were asked, and know no such name or no address of it. */
export function isNegativeAnswer(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}
