import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { serviceUnavailable } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { limitBody } from './body-limit.ts';
import { isForwarded } from './forwarded-headers.ts';
import { upstreamBreaker } from './upstream-breaker.ts';

/** A service behind the gateway. */
export interface Upstream {
  /** False while the circuit breaker is open. */
  readonly available: boolean;
  /**
   * Sends a request to the service once, as it is, and streams the response to the client. Resolves when the response
   * has begun or the client has gone.
   * @throws DomainError `service_unavailable` when the service did not respond; nothing has been sent to the client
   *   then
   */
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
}

export interface UpstreamOptions {
  name: string;
  url: string;
  /** Milliseconds from the end of the request to the beginning of the response. */
  timeout: number;
  log: Logger;
  onFailure: () => void;
}

/** A forwarded request whose response has not begun. */
interface InFlightRequest {
  resolve: () => void;
  reject: (error: Error) => void;
  upstreamRequest: ClientRequest | undefined;
  timer: NodeJS.Timeout | undefined;
  /** The response has begun, the request has failed, or the client has gone. */
  settled: boolean;
}

const CONNECT_TIMEOUT = 2_000;
const PROBE_TIMEOUT = 1_000;
/** Long enough for a slow client to read the longest response. */
const RESPONSE_TIMEOUT = 120_000;
/** With more requests than this in flight, the service has stopped responding. */
const MAX_IN_FLIGHT = 1_000;

export function upstream(options: UpstreamOptions): Upstream {
  const { name, log } = options;
  const target = new URL(options.url);
  const agent = new (target.protocol === 'https:' ? https : http).Agent({ keepAlive: true, maxFreeSockets: 256 });
  const requests = new WeakMap<IncomingMessage, InFlightRequest>();
  let inFlight = 0;

  const breaker = upstreamBreaker({
    probe: async () => probe(target),
    onChange: (closed) =>
      log.warn({ upstream: name }, closed ? 'a service responds again' : 'a service does not respond'),
  });

  const settle = (forwarded: InFlightRequest) => {
    forwarded.settled = true;
    clearTimeout(forwarded.timer);
  };

  const abortAfter = (forwarded: InFlightRequest, milliseconds: number, reason: string) => {
    clearTimeout(forwarded.timer);
    forwarded.timer = setTimeout(() => forwarded.upstreamRequest?.destroy(new Error(reason)), milliseconds);
  };

  const onProxyRequest = (upstreamRequest: ClientRequest, request: IncomingMessage) => {
    const forwarded = requests.get(request);
    if (forwarded === undefined) return;
    forwarded.upstreamRequest = upstreamRequest;
    const awaitResponse = () => {
      if (forwarded.settled || upstreamRequest.socket?.connecting === true) return;
      abortAfter(forwarded, options.timeout, 'no response in time');
    };
    // The time runs from the end of the request, so that a slow client does not count as a slow service.
    request.once('end', awaitResponse);
    if (request.headers['content-length'] === undefined) limitBody(request, upstreamRequest, awaitResponse);
    if (upstreamRequest.socket?.connecting === true) {
      abortAfter(forwarded, CONNECT_TIMEOUT, 'no connection in time');
      upstreamRequest.socket.once('connect', () => {
        clearTimeout(forwarded.timer);
        if (request.readableEnded) awaitResponse();
      });
    }
  };

  const onResponse = (upstreamResponse: IncomingMessage, request: IncomingMessage, response: ServerResponse) => {
    const forwarded = requests.get(request);
    if (forwarded === undefined || forwarded.settled) return;
    settle(forwarded);
    breaker.record(undefined);
    const timer = setTimeout(() => upstreamResponse.destroy(), RESPONSE_TIMEOUT);
    upstreamResponse.once('close', () => clearTimeout(timer));
    relayResponse(upstreamResponse, response);
    forwarded.resolve();
  };

  const onClientGone = (request: IncomingMessage) => {
    const forwarded = requests.get(request);
    if (forwarded === undefined || forwarded.settled) return;
    settle(forwarded);
    forwarded.resolve();
  };

  const onError = (error: Error, request: IncomingMessage, response: Pick<ServerResponse, 'destroyed'>) => {
    const forwarded = requests.get(request);
    // After the response has begun, an error truncates it; HTTP/1.1 has no other way to report the error.
    if (forwarded === undefined || forwarded.settled) return;
    if (request.socket.destroyed || response.destroyed) {
      onClientGone(request);
      return;
    }
    settle(forwarded);
    breaker.record(error);
    options.onFailure();
    log.warn({ err: error, upstream: name }, 'a service failed to respond');
    // Discards the rest of the body, so that the connection can carry the next request.
    request.unpipe();
    request.resume();
    forwarded.reject(serviceUnavailable(`The ${name} service does not respond`));
  };

  const proxy = createProxyMiddleware({
    target,
    agent,
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', onProxyRequest);
        server.on('proxyRes', onResponse);
        server.on('error', (error, request, response) => {
          if (request !== undefined && response !== undefined) onError(error, request, response);
        });
        // The client closed its connection.
        server.on('econnreset', (_error, request) => onClientGone(request));
      },
    ],
  });

  return {
    get available() {
      return breaker.closed;
    },
    forward: async (request, response) => {
      if (!breaker.closed || inFlight >= MAX_IN_FLIGHT)
        throw serviceUnavailable(`The ${name} service does not respond`);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      requests.set(request, { resolve, reject, upstreamRequest: undefined, timer: undefined, settled: false });
      inFlight += 1;
      response.once('close', () => {
        inFlight -= 1;
      });
      void proxy(request, response, (error) => onError(error as Error, request, response));
      await promise;
    },
    close: () => {
      breaker.stop();
      agent.destroy();
    },
  };
}

/** Copies status and body, and all headers except those of the connection and internal ones. */
function relayResponse(upstreamResponse: IncomingMessage, response: ServerResponse): void {
  response.statusCode = upstreamResponse.statusCode ?? 502;
  const { rawHeaders } = upstreamResponse;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (isForwarded(name)) response.appendHeader(name, rawHeaders[index + 1] ?? '');
  }
  upstreamResponse.pipe(response);
}

/** Returns the failure, or `undefined` when the service is healthy. */
async function probe(target: URL): Promise<Error | undefined> {
  try {
    const response = await fetch(new URL('/healthz', target), { signal: AbortSignal.timeout(PROBE_TIMEOUT) });
    await response.body?.cancel();
    return response.ok ? undefined : new Error(`the health check returned ${response.status}`);
  } catch (error) {
    return error as Error;
  }
}
