import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { canonicalAddress } from './public-address.ts';
import { sendRequest } from './send-request.ts';
import type { SafeResponse, SafeRequest } from './messages.ts';
import { isNegativeAnswer, type Resolve } from './system-resolver.ts';

/** Sends requests to URLs from untrusted input. Rejects only when `prepare` does. */
export interface SafeHttp {
  request(request: SafeRequest): Promise<SafeResponse>;
}

export interface SafeHttpOptions {
  /** Whether a request to this URL may connect to this address. */
  allows: (address: string, url: URL) => boolean;
  resolve: Resolve;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/**
 * An HTTPS client for untrusted hosts. It resolves a name once, requires every returned address to be allowed, and
 * connects to an address that it has checked, so that DNS rebinding has no effect. It does not follow redirects,
 * decompress bodies or keep connections open.
 */
export function safeHttp({ allows, resolve, ca }: SafeHttpOptions): SafeHttp {
  let secureContext: SecureContext | undefined;
  /** Parses the certificates once. For each request it would take 0.3 ms. */
  const trusted = () => (secureContext ??= createSecureContext(ca === undefined ? {} : { ca }));
  const addressesOf = async (url: URL, signal: AbortSignal): Promise<readonly string[]> => {
    const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(literal) === 0 ? await rejectOnAbort(resolve(url.hostname, signal), signal) : [literal];
    return addresses.filter((address) => isIP(address) !== 0).map(canonicalAddress);
  };

  return {
    async request({ url: text, method, timeout, maxBodyBytes, prepare }) {
      const url = new URL(text);
      const signal = AbortSignal.timeout(timeout);
      let addresses: readonly string[];
      try {
        addresses = await addressesOf(url, signal);
      } catch (error) {
        return { kind: 'failure', reason: 'dns', isLocal: !isNegativeAnswer(error) };
      }
      const [address] = addresses;
      if (address === undefined) return { kind: 'failure', reason: 'dns', isLocal: false };
      if (!addresses.every((each) => allows(each, url))) {
        return { kind: 'failure', reason: 'blocked_address', isLocal: false };
      }
      const prepared = await prepare(address);
      if (prepared === undefined) return { kind: 'cancelled' };
      if (signal.aborted) return { kind: 'failure', reason: 'timeout', isLocal: true };
      return sendRequest({ url, address, method, prepared, maxBodyBytes, signal, secureContext: trusted() });
    },
  };
}

/** Enforces the deadline even when a resolver ignores its signal. */
async function rejectOnAbort<Value>(result: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([result, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
