import { isIP } from 'node:net';
import { canonicalAddress } from './public-address.ts';
import { exchange } from './exchange.ts';
import type { SafeAnswer, SafeRequest } from './messages.ts';
import { isNegativeAnswer, type Resolve } from './system-resolver.ts';

/** Sends requests to addresses that strangers choose. Never rejects, but for what `prepare` throws. */
export interface SafeHttp {
  request(request: SafeRequest): Promise<SafeAnswer>;
}

export interface SafeHttpOptions {
  /** Whether an address may be connected to, for a URL of this host and port (`host:port`). */
  allows: (address: string, hostAndPort: string) => boolean;
  resolve: Resolve;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/**
 * HTTPS towards hosts that are not trusted. A name is resolved once, every address of the answer must be allowed, and the
 * connection goes to the address that was judged: a name that answers differently the next moment gains nothing. No redirect is
 * followed, nothing is decompressed, no connection is kept.
 */
export function safeHttp({ allows, resolve, ca }: SafeHttpOptions): SafeHttp {
  const addressesOf = async (url: URL, signal: AbortSignal): Promise<readonly string[]> => {
    const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const found = isIP(literal) === 0 ? await abortable(resolve(url.hostname, signal), signal) : [literal];
    return found.filter((address) => isIP(address) !== 0).map(canonicalAddress);
  };

  return {
    async request({ url: text, method, timeout, maxBodyBytes, prepare }) {
      const url = new URL(text);
      const signal = AbortSignal.timeout(timeout);
      let addresses: readonly string[];
      try {
        addresses = await addressesOf(url, signal);
      } catch (error) {
        return { kind: 'fault', reason: 'dns', ours: !isNegativeAnswer(error) };
      }
      const [address] = addresses;
      if (address === undefined) return { kind: 'fault', reason: 'dns', ours: false };
      if (!addresses.every((found) => allows(found, hostAndPort(url)))) {
        return { kind: 'fault', reason: 'blocked_address', ours: false };
      }
      const prepared = await prepare(address);
      if (prepared === undefined) return { kind: 'called_off' };
      if (signal.aborted) return { kind: 'fault', reason: 'timeout', ours: true };
      return exchange({ url, address, method, prepared, maxBodyBytes, signal, ca });
    },
  };
}

/** What `WEBHOOK_TEST_RECEIVERS` names an https URL's place by. */
export const hostAndPort = ({ hostname, port }: URL) => `${hostname}:${port === '' ? 443 : port}`;

/** A resolver that does not heed its signal must not outlast the deadline. */
async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
