import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { type DomainError, EVENT_STREAM } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { overloaded } from '../domain/overload.ts';
import { isForwarded } from './forwarded-headers.ts';
import { probe } from './probe.ts';
import { PATIENCE, upstreamHealth, type WaitingRequest } from './upstream-health.ts';

/** A request that has arrived in whole. */
export interface CompleteRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Sent instead of what `request` may still receive; `undefined` if the request has no body. */
  body: Buffer | undefined;
  /** Milliseconds until the service must have begun its response. */
  deadline: number;
  /**
   * For an operation that may wait: called when the service says that the request waits for an event, or when it streams
   * events. `end` ends the wait. May throw what the client gets instead.
   */
  onWait: ((end: (reason: DomainError) => void) => void) | undefined;
}

/** A service behind the gateway. */
export interface Upstream {
  /** False while the service is known to be dead. */
  readonly available: boolean;
  /**
   * Sends a request to the service once, and streams the response to the client. Resolves when the response has begun
   * or the client has gone.
   * @throws DomainError `service_unavailable` when the service did not respond; nothing has been sent to the client
   *   then
   */
  forward(request: CompleteRequest): Promise<void>;
  close(): void;
}

export interface UpstreamOptions {
  name: string;
  url: string;
  log: Logger;
  onFailure: () => void;
}

/** A forwarded request whose response has not begun. */
interface Forwarded extends WaitingRequest {
  readonly body: Buffer | undefined;
  readonly response: ServerResponse;
  /** Until the wait has begun. */
  onWait: CompleteRequest['onWait'];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  patience: number;
  upstreamRequest: ClientRequest | undefined;
  /** The response of the service, if it is a stream of events. */
  stream: IncomingMessage | undefined;
  /** The response has begun, the request has failed, or the client has gone. */
  settled: boolean;
}

/** Long enough for a slow client to read the longest response, and for a stream of events. */
const RESPONSE_TIMEOUT = 120_000;
/** The interim response with which a service says that a request waits for an event. */
const PROCESSING = 102;
/** Milliseconds that a client has to take the rest of a stream that the gateway ends. */
const END_TIMEOUT = 1_000;

export function upstream(options: UpstreamOptions): Upstream {
  const { name, log } = options;
  const target = new URL(options.url);
  const agent = new (target.protocol === 'https:' ? https : http).Agent({ keepAlive: true, maxFreeSockets: 256 });
  const requests = new WeakMap<IncomingMessage, Forwarded>();

  const health = upstreamHealth({
    probe: async () => probe(target),
    onChange: (available, failure) => {
      if (available) log.warn({ upstream: name }, 'a service responds again');
      else log.warn({ upstream: name, err: failure }, 'a service does not respond');
    },
  });
  const notResponding = () => overloaded(`The ${name} service does not respond`, 'service_down');

  const settle = (forwarded: Forwarded) => {
    forwarded.settled = true;
    health.unwatch(forwarded);
  };

  const refuse = (forwarded: Forwarded, error: unknown) => {
    settle(forwarded);
    forwarded.reject(error);
    forwarded.upstreamRequest?.destroy();
  };

  const fail = (forwarded: Forwarded, error: DomainError) => {
    options.onFailure();
    refuse(forwarded, error);
  };

  const beginWait = (forwarded: Forwarded) => {
    const { onWait } = forwarded;
    if (onWait === undefined || forwarded.settled) return;
    forwarded.onWait = undefined;
    // It is not the service that keeps it waiting.
    forwarded.patience = Infinity;
    try {
      onWait((reason) => {
        if (!forwarded.settled) refuse(forwarded, reason);
        else if (forwarded.stream !== undefined) endStream(forwarded.stream, forwarded.response);
      });
    } catch (error) {
      refuse(forwarded, error);
    }
  };

  const giveUp = (forwarded: Forwarded, reason: 'deadline' | 'down') => {
    if (forwarded.settled) return;
    if (reason === 'down') {
      fail(forwarded, notResponding());
      return;
    }
    const message = `The ${name} service did not respond within ${forwarded.deadline / 1_000} seconds`;
    log.warn({ upstream: name, path: forwarded.upstreamRequest?.path.split('?', 1)[0] }, 'a request took too long');
    fail(forwarded, overloaded(message, 'deadline'));
  };

  const onProxyRequest = (upstreamRequest: ClientRequest, request: IncomingMessage) => {
    const forwarded = requests.get(request);
    if (forwarded === undefined) return;
    forwarded.upstreamRequest = upstreamRequest;
    upstreamRequest.on('information', ({ statusCode }) => {
      if (statusCode === PROCESSING) beginWait(forwarded);
    });
    // Given up before there was a connection for it.
    if (forwarded.settled) upstreamRequest.destroy();
  };

  const onResponse = (upstreamResponse: IncomingMessage, request: IncomingMessage, response: ServerResponse) => {
    const forwarded = requests.get(request);
    if (forwarded === undefined) return;
    if (isStream(upstreamResponse)) {
      forwarded.stream = upstreamResponse;
      beginWait(forwarded);
    }
    if (forwarded.settled) return;
    settle(forwarded);
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
    log.warn({ err: error, upstream: name }, 'a service failed to respond');
    health.suspect();
    fail(forwarded, notResponding());
  };

  const proxy = createProxyMiddleware({
    // The options are those of this request alone, so its body can be among them.
    router: (request, _response, proxyOptions) => {
      const body = requests.get(request)?.body;
      if (body !== undefined) proxyOptions.buffer = Readable.from(body.length === 0 ? [] : body);
      return target;
    },
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
      return health.available;
    },
    forward: async ({ request, response, body, deadline, onWait }) => {
      if (!health.available) throw notResponding();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const forwarded: Forwarded = {
        body,
        response,
        onWait,
        deadline,
        patience: PATIENCE,
        sentAt: performance.now(),
        resolve,
        reject,
        upstreamRequest: undefined,
        stream: undefined,
        settled: false,
        giveUp: (reason) => giveUp(forwarded, reason),
      };
      requests.set(request, forwarded);
      health.watch(forwarded);
      response.once('close', () => onClientGone(request));
      void proxy(request, response, (error) => onError(error as Error, request, response));
      await promise;
    },
    close: () => {
      health.stop();
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
  if (isStream(upstreamResponse)) response.flushHeaders();
  upstreamResponse.pipe(response);
}

const isStream = ({ headers }: IncomingMessage) => headers['content-type']?.startsWith(EVENT_STREAM) === true;

/**
 * Ends a stream for its client, which discards a message that is not complete and opens the stream again. The close of
 * the response ends the one of the service.
 */
function endStream(stream: IncomingMessage, response: ServerResponse): void {
  stream.unpipe(response);
  response.end();
  setTimeout(() => response.destroy(), END_TIMEOUT).unref();
}
