import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { inOrder } from './address-order.ts';
import { connectToFirst, startTls } from './connect.ts';
import { findDestinationProblem } from './destinations.ts';
import { RequestFailure } from './failure.ts';
import { canonicalAddress, literalOf, reachedAddress } from './public-address.ts';
import { sendRequest } from './send-request.ts';
import type { SafeResponse, SafeRequest } from './messages.ts';
import type { EgressProxy } from './proxy.ts';
import { isNegativeAnswer, type Resolve } from './system-resolver.ts';
import { openTunnel } from './tunnel.ts';

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
  /** Resolves the names of its URLs instead; only public names and addresses on port 443 are sent to it. */
  proxy?: EgressProxy | undefined;
}

/** Where the connection for a request begins. */
type Route = { addresses: readonly string[]; proxy?: undefined } | { proxy: URL };

/**
 * An HTTPS client for untrusted hosts. It resolves a name once, requires every returned address to be allowed, and
 * connects to addresses that it has checked, so that DNS rebinding has no effect. It does not follow redirects,
 * decompress bodies or keep connections open.
 */
export function safeHttp({ allows, resolve, ca, proxy }: SafeHttpOptions): SafeHttp {
  let secureContext: SecureContext | undefined;
  /** Parses the certificates once. For each request it would take 0.3 ms. */
  const trusted = () => (secureContext ??= createSecureContext(ca === undefined ? {} : { ca }));

  const addressesOf = async (url: URL, signal: AbortSignal): Promise<readonly string[]> => {
    const literal = literalOf(url);
    if (literal !== undefined) return [literal];
    try {
      return await rejectOnAbort(resolve(url.hostname, signal), signal);
    } catch (error) {
      throw new RequestFailure('dns', { isLocal: !isNegativeAnswer(error) });
    }
  };
  const routeOf = async (url: URL, signal: AbortSignal): Promise<Route> => {
    const proxyUrl = proxy?.urlFor(url);
    if (proxyUrl !== undefined) {
      if (findDestinationProblem(url, NOTHING_OPENED) !== undefined) throw new RequestFailure('blocked_address');
      return { proxy: proxyUrl };
    }
    const addresses = (await addressesOf(url, signal)).filter((address) => isIP(address) !== 0).map(canonicalAddress);
    if (addresses.length === 0) throw new RequestFailure('dns');
    if (!addresses.every((each) => allows(each, url))) throw new RequestFailure('blocked_address');
    return { addresses: inOrder(addresses) };
  };

  return {
    async request({ url: text, method, timeout, prepare, readsRefusals = false, ...limits }) {
      const url = new URL(text);
      const signal = AbortSignal.timeout(timeout);
      const port = url.port === '' ? 443 : Number(url.port);
      let socket: Socket | undefined;
      try {
        const route = await routeOf(url, signal);
        const planned = route.proxy === undefined ? reachedAddress(route.addresses[0] ?? '') : url.hostname;
        let prepared = await prepare(planned);
        if (prepared === undefined) return { kind: 'cancelled' };
        checkTime(signal);
        if (route.proxy === undefined) {
          const connection = await connectToFirst({ addresses: route.addresses, port }, signal);
          ({ socket } = connection);
          const actual = reachedAddress(connection.address);
          if (actual !== planned) prepared = await prepare(actual);
          if (prepared === undefined) return { kind: 'cancelled' };
          checkTime(signal);
        } else {
          const target = `${url.hostname}:${port}`;
          socket = await openTunnel({ proxy: route.proxy, target, signal, secureContext: trusted() });
        }
        const secured = await startTls(socket, { url, signal, secureContext: trusted() });
        return await sendRequest({ ...limits, url, socket: secured, method, prepared, readsRefusals, signal });
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error;
        return { kind: 'failure', reason: error.reason, isLocal: error.isLocal };
      } finally {
        socket?.destroy();
      }
    },
  };
}

/** What is opened is opened by address, which only the proxy knows. */
const NOTHING_OPENED = { testReceivers: new Set<string>(), networks: [] };

/** A preparation may take long. */
function checkTime(signal: AbortSignal): void {
  if (signal.aborted) throw new RequestFailure('timeout', { isLocal: true });
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
