import { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import {
  COST_HEADER,
  type DomainError,
  SUSPECT_AFTER_MS,
  type ServiceAddress,
  type ServiceAddresses,
  type WatchedRequest,
} from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { overloaded } from '../domain/overload.ts';
import { endStream, isStream, relayResponse } from './relay-response.ts';

/** A request that has arrived in whole. */
interface CompleteRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Sent instead of what `request` may still receive; `undefined` if the request has no body. */
  body: Buffer | undefined;
  /** Milliseconds until the service must have begun its response. */
  deadline: number;
  /**
   * For an operation that may wait: called when the service says that the request waits for an event, or when it streams
   * events. May throw what the client gets instead.
   */
  onWait: ((wait: Wait) => void) | undefined;
  /** Called when the service responds, if it has added to the cost of the operation. */
  onCost: (cost: number) => void;
}

/** The wait of a request for events. Both functions end a stream. */
export interface Wait {
  /** Ends it with an error. */
  refuse(reason: DomainError): void;
  /** Ends it as if its time were over: the client gets what there is now. */
  finish(): void;
}

/** A service behind the gateway. */
export interface Upstream {
  /**
   * Sends a request to the service, and streams the response to the client. A request that fails is sent once more, if
   * possible to another address: if it only reads, or if no connection was made for it. Resolves when the response has
   * begun. If the client has gone, a read is given up; the service does not give up a write, so the response is awaited.
   * @throws DomainError `service_unavailable` when the service did not respond; nothing has been sent to the client
   *   then
   */
  forward(request: CompleteRequest): Promise<void>;
}

export interface UpstreamOptions {
  name: string;
  addresses: ServiceAddresses;
  log: Logger;
  onFailure: () => void;
  /** A request is sent a second time. */
  onRepeat: () => void;
}

/** A forwarded request whose response has not begun. */
interface Forwarded extends WatchedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer | undefined;
  /** Milliseconds from the first attempt. */
  readonly deadline: number;
  readonly deadlineAt: number;
  /** Until the wait has begun. */
  onWait: CompleteRequest['onWait'];
  readonly onCost: CompleteRequest['onCost'];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
  sentAt: number;
  suspectAfter: number;
  address: ServiceAddress;
  upstreamRequest: ClientRequest | undefined;
  /** There was a connection, so the service may have received the request. */
  mayHaveArrived: boolean;
  /** The response of the service, if it is a stream of events. */
  stream: IncomingMessage | undefined;
  /** The response has begun, or the request has failed or was given up. */
  settled: boolean;
}

/** The proxy hands the client's request to its listeners, and nothing else that says which attempt it is. */
const FORWARDED = Symbol('forwarded');

interface ProxiedRequest extends IncomingMessage {
  [FORWARDED]?: Forwarded;
}

const ATTEMPTS = 2;
/** The interim response with which a service says that a request waits for an event. */
const PROCESSING = 102;

export function upstream({ name, addresses, log, onFailure, onRepeat }: UpstreamOptions): Upstream {
  const notResponding = () => overloaded(`The ${name} service does not respond`, 'service_down');

  /** Ends an attempt. */
  const leave = (forwarded: Forwarded) => {
    const { address } = forwarded;
    address.health.unwatch(forwarded);
    address.underWay -= 1;
  };

  const settle = (forwarded: Forwarded) => {
    forwarded.settled = true;
    leave(forwarded);
  };

  const refuse = (forwarded: Forwarded, error: unknown) => {
    settle(forwarded);
    forwarded.reject(error);
    forwarded.upstreamRequest?.destroy();
  };

  const fail = (forwarded: Forwarded, error: DomainError) => {
    onFailure();
    refuse(forwarded, error);
  };

  const send = (forwarded: Forwarded) => {
    const { address, request } = forwarded;
    forwarded.attempts += 1;
    forwarded.sentAt = performance.now();
    address.underWay += 1;
    address.health.watch(forwarded);
    // With the client's response, the proxy would abort the request when the client goes.
    void proxy(request, new ServerResponse(request));
  };

  const sendAgain = (forwarded: Forwarded, address: ServiceAddress) => {
    leave(forwarded);
    const { upstreamRequest } = forwarded;
    Object.assign(forwarded, { address, upstreamRequest: undefined, mayHaveArrived: true });
    upstreamRequest?.destroy();
    send(forwarded);
  };

  /** After a failed attempt: sends the request again if that is safe and there is an address, or fails. */
  const repeatOrFail = (forwarded: Forwarded) => {
    const { attempts, address } = forwarded;
    const next = attempts < ATTEMPTS && isRepeatable(forwarded) ? addresses.choose(address) : undefined;
    if (next === undefined) {
      fail(forwarded, notResponding());
      return;
    }
    onRepeat();
    sendAgain(forwarded, next);
  };

  const beginWait = (forwarded: Forwarded) => {
    const { onWait } = forwarded;
    if (onWait === undefined || forwarded.settled) return;
    forwarded.onWait = undefined;
    // It is not the service that keeps it waiting.
    forwarded.suspectAfter = Infinity;
    try {
      onWait({
        refuse: (reason) => {
          if (!forwarded.settled) refuse(forwarded, reason);
          else if (forwarded.stream !== undefined) endStream(forwarded.stream, forwarded.response);
        },
        finish: () => finishWait(forwarded),
      });
    } catch (error) {
      refuse(forwarded, error);
    }
  };

  const finishWait = (forwarded: Forwarded) => {
    const { request, response, stream } = forwarded;
    if (stream !== undefined) {
      // A stream that begins while the gateway stops has no headers yet.
      process.nextTick(() => endStream(stream, response));
      return;
    }
    if (forwarded.settled) return;
    // A service cannot be told to end one wait, so it is asked again, and not to wait.
    request.url = withoutWait(request.url ?? '');
    const next = addresses.choose();
    if (next === undefined) {
      fail(forwarded, notResponding());
      return;
    }
    forwarded.suspectAfter = SUSPECT_AFTER_MS;
    sendAgain(forwarded, next);
  };

  const giveUp = (forwarded: Forwarded, reason: 'deadline' | 'down') => {
    if (forwarded.settled) return;
    if (reason === 'down') {
      repeatOrFail(forwarded);
      return;
    }
    const message = `The ${name} service did not respond within ${forwarded.deadline / 1_000} seconds`;
    log.warn({ upstream: name, path: forwarded.upstreamRequest?.path.split('?', 1)[0] }, 'a request took too long');
    fail(forwarded, overloaded(message, 'deadline'));
  };

  /** The request of an attempt has a socket, new or not. */
  const onProxyRequest = (upstreamRequest: ClientRequest, forwarded: Forwarded) => {
    forwarded.upstreamRequest = upstreamRequest;
    forwarded.mayHaveArrived = upstreamRequest.socket?.connecting !== true;
    if (!forwarded.mayHaveArrived) upstreamRequest.socket?.once('connect', () => (forwarded.mayHaveArrived = true));
    upstreamRequest.on('information', ({ statusCode }) => {
      if (statusCode === PROCESSING) beginWait(forwarded);
    });
    upstreamRequest.on('error', (error) => {
      // Not that of an attempt which was given up.
      if (forwarded.upstreamRequest === upstreamRequest) onError(error, forwarded);
    });
    // Given up before there was a connection for it.
    if (forwarded.settled) upstreamRequest.destroy();
  };

  const onResponse = (upstreamResponse: IncomingMessage, forwarded: Forwarded) => {
    // The process may be about to stop.
    if (upstreamResponse.headers.connection === 'close') forwarded.address.health.check('doubt');
    if (isStream(upstreamResponse)) {
      forwarded.stream = upstreamResponse;
      beginWait(forwarded);
    }
    if (forwarded.settled) return;
    settle(forwarded);
    const cost = Number(upstreamResponse.headers[COST_HEADER] ?? 0);
    if (cost > 0) forwarded.onCost(cost);
    if (forwarded.response.destroyed) upstreamResponse.destroy();
    else relayResponse(upstreamResponse, forwarded.response);
    forwarded.resolve();
  };

  const abandon = (forwarded: Forwarded) => {
    if (forwarded.settled) return;
    settle(forwarded);
    forwarded.resolve();
    forwarded.upstreamRequest?.destroy();
  };

  const onError = (error: Error, forwarded: Forwarded) => {
    // After the response has begun, an error truncates it; HTTP/1.1 has no other way to report the error.
    if (forwarded.settled) return;
    const { request, response, address } = forwarded;
    if (request.socket.destroyed || response.destroyed) {
      abandon(forwarded);
      return;
    }
    log.warn({ err: error, upstream: name, address: address.name }, 'a service failed to respond');
    address.health.check('doubt');
    repeatOrFail(forwarded);
  };

  const withForwarded = (request: ProxiedRequest | undefined, handle: (forwarded: Forwarded) => void) => {
    const forwarded = request?.[FORWARDED];
    if (forwarded !== undefined) handle(forwarded);
  };

  const proxy = createProxyMiddleware({
    // The options are those of this attempt alone, so its connection and its body can be among them.
    router: (request: ProxiedRequest, _response, proxyOptions) => {
      const forwarded = request[FORWARDED];
      if (forwarded === undefined) throw new Error('the request is not one that is forwarded');
      const { address, body } = forwarded;
      proxyOptions.agent = address.agent;
      // What the client sent has been read; a repeated request has no other body either.
      proxyOptions.buffer = wholeBody(body);
      return targetOf(address);
    },
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (upstreamRequest, request, _response, { target }) => {
          (target as ProxyTarget).hasRequest = true;
          withForwarded(request, (forwarded) => onProxyRequest(upstreamRequest, forwarded));
        });
        server.on('proxyRes', (upstreamResponse, request) =>
          withForwarded(request, (forwarded) => onResponse(upstreamResponse, forwarded)),
        );
        server.on('error', (error, request, _response, target) => {
          const hasRequest = (target as ProxyTarget | undefined)?.hasRequest === true;
          if (!hasRequest) withForwarded(request, (forwarded) => onError(error, forwarded));
        });
        // The client closed its connection.
        server.on('econnreset', (_error, request) => withForwarded(request, abandon));
      },
    ],
  });

  return {
    forward: async ({ request, response, body, deadline, onWait, onCost }) => {
      const address = addresses.choose();
      if (address === undefined) throw notResponding();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const now = performance.now();
      const forwarded: Forwarded = {
        request,
        response,
        body,
        onWait,
        onCost,
        deadline,
        deadlineAt: now + deadline,
        sentAt: now,
        suspectAfter: SUSPECT_AFTER_MS,
        resolve,
        reject,
        attempts: 0,
        address,
        upstreamRequest: undefined,
        mayHaveArrived: true,
        stream: undefined,
        settled: false,
        giveUp: (reason) => giveUp(forwarded, reason),
      };
      (request as ProxiedRequest)[FORWARDED] = forwarded;
      if (isRead(request)) response.on('close', () => abandon(forwarded));
      send(forwarded);
      await promise;
    },
  };
}

/**
 * The body of a request in the place of a stream, of which the proxy calls only `pipe`: the request and its body are one
 * write.
 */
const wholeBody = (body: Buffer | undefined) =>
  ({ pipe: (request: ClientRequest) => request.end(body?.length === 0 ? undefined : body) }) as unknown as Readable;

/** What the proxy reads of an address; faster than from a `URL`. */
interface ProxyTarget {
  protocol: string;
  hostname: string;
  port: string;
  pathname: string;
  /** The attempt has a request, whose own listener handles its errors. */
  hasRequest: boolean;
}

function targetOf({ url: { protocol, hostname, port } }: ServiceAddress): ProxyTarget {
  // An IPv6 address has no brackets outside of a URL.
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, pathname: '', hasRequest: false };
}

function withoutWait(target: string): string {
  const start = target.indexOf('?');
  // A query may contain further question marks.
  const [path, search] = start === -1 ? [target, ''] : [target.slice(0, start), target.slice(start)];
  const parameters = new URLSearchParams(search);
  parameters.set('wait', '0');
  return `${path}?${parameters.toString()}`;
}

/**
 * Whether the request may be sent again: it changes nothing, or there was no connection for it. A connection that was
 * closed before a response proves nothing: the service may have done what was asked.
 */
const isRepeatable = ({ request, upstreamRequest, mayHaveArrived }: Forwarded) =>
  upstreamRequest !== undefined && (isRead(request) || !mayHaveArrived);

export const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
