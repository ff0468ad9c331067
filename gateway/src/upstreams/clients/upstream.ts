/**
 * `upstreams` sends requests to the services. This file forwards a request that has arrived in whole, with its
 * principal, and streams the response to the client. A request that fails is sent once more, to another address if
 * there is one, but only if it reads or if there was no connection for it: a service gets a write at most once. A read
 * whose client has gone is given up, a write is not. A service says that a request waits for events by an interim
 * response, or by beginning a stream; then its wait can be ended from here. Without a response in time the client gets
 * 503, with the outcome `unknown` for a write that may have arrived (contract: Errors). `services-client.ts` asks
 * services for the gateway itself (ADR 35).
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Stream } from 'node:stream';
import {
  type Attempt,
  COST_HEADER,
  FETCHED_BYTES_HEADER,
  DomainError,
  isRead,
  NoResponse,
  outcomeUnknown,
  pathOf,
  sendRequest,
  type ServiceAddresses,
} from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { createProxyMiddleware, type Options } from 'http-proxy-middleware';
import { overloaded } from '../domain/overload.ts';
import { endStream, isStream, relayResponse } from './relay-response.ts';

/** A request that has arrived in whole. */
interface CompleteRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Sent instead of what `request` may still receive; `undefined` for a request without a body. */
  body: Buffer | undefined;
  /** Milliseconds until the service must have begun its response. */
  deadline: number;
  /**
   * For an operation that may wait: called when the service says that the request waits for an event, or when it streams
   * events. May throw what the client gets instead.
   */
  onWait: ((wait: Wait) => void) | undefined;
  /** Aborted with what the client gets instead, when the request must not go on: the service stops, a stream ends. */
  signal: AbortSignal | undefined;
  /** Called when the service responds, with what it has added to the cost of the operation and fetched for it. */
  onUsage: (usage: { cost: number; fetchedBytes: number }) => void;
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
  readonly addresses: ServiceAddresses;
  /**
   * Sends a request to the service, and streams the response to the client. A request that fails is sent once more, if
   * possible to another address: if it only reads, or if no connection was made for it. Resolves when the response has
   * begun. If the client has gone, a read is given up; the service does not give up a write, so the response is awaited.
   * @throws DomainError `service_unavailable` when the service did not respond; nothing has been sent to the client
   *   then. Its outcome is unknown for a write that the service may have received
   */
  forward(request: CompleteRequest): Promise<void>;
}

/**
 * What the proxy gets as the response of an attempt. With the response of the client, it would abort a write when the
 * client goes.
 */
type AttemptResponse = ServerResponse & { attempt: Attempt<void>; body: Buffer | undefined; onProcessing: () => void };

/** The interim response with which a service says that a request waits for an event. */
const PROCESSING = 102;

const CLIENT_HAS_GONE = new Error('the client has gone');
const WAIT_IS_OVER = new Error('the wait is over');

/** The proxy sends no body: neither what the client still sends, nor once more what was read of it. */
const NO_BODY = { pipe: () => undefined } as unknown as Stream;

type ProxyTarget = Exclude<Options['target'], string | URL | undefined>;

/** What the proxy reads of a URL at each request. It takes longer to read of the URL itself. */
const targets = new WeakMap<URL, ProxyTarget>();

function targetOf(url: URL): ProxyTarget {
  let target = targets.get(url);
  if (target === undefined) {
    const { protocol, host, hostname, port, pathname } = url;
    target = { protocol, host, port, pathname, hostname: hostname.replace(/^\[(.*)\]$/, '$1') };
    targets.set(url, target);
  }
  return target;
}

const proxy = createProxyMiddleware<IncomingMessage, AttemptResponse>({
  router: (_request, response, options) => {
    if (response === undefined) throw new Error('an upgrade is not forwarded');
    const { agent, url } = response.attempt.address;
    options.agent = agent;
    return targetOf(url);
  },
  buffer: NO_BODY,
  changeOrigin: true,
  selfHandleResponse: true,
  // The default ones read every response, for a log that is not written.
  ejectPlugins: true,
  plugins: [
    (server) => {
      server.on('proxyReq', (upstreamRequest, _request, { attempt, body, onProcessing }) => {
        attempt.begin(upstreamRequest);
        upstreamRequest.end(body);
        upstreamRequest.on('information', ({ statusCode }) => {
          if (statusCode === PROCESSING) onProcessing();
        });
      });
      server.on('error', (error, _request, response) => {
        if (response !== undefined && 'attempt' in response) response.attempt.result.reject(error);
      });
      server.on('econnreset', (_error, _request, { attempt }) => attempt.abort(CLIENT_HAS_GONE));
    },
  ],
});

interface UpstreamOptions {
  name: string;
  addresses: ServiceAddresses;
  log: Logger;
  onFailure: () => void;
  onRepeat: () => void;
}

export function upstream({ name, addresses, log, onFailure, onRepeat }: UpstreamOptions): Upstream {
  return {
    addresses,
    forward: async ({ request, response, body, deadline, onWait, signal, onUsage }) => {
      let attempt: Attempt<void> | undefined;
      let stream: IncomingMessage | undefined;
      let isWaiting = false;

      const end = (reason: Error) => {
        if (stream === undefined) attempt?.abort(reason);
        else endStream(stream, response);
      };
      signal?.addEventListener('abort', () => end(refusalUnderWay(signal.reason as DomainError, request)));

      const beginWait = () => {
        if (onWait === undefined || attempt === undefined || isWaiting) return;
        isWaiting = true;
        // It is not the service that keeps it waiting.
        attempt.suspectAfter = Infinity;
        try {
          // A stream that begins while the gateway stops has no headers yet.
          onWait({ refuse: end, finish: () => process.nextTick(end, WAIT_IS_OVER) });
        } catch (error) {
          attempt.abort(error as Error);
        }
      };

      const send = async () =>
        sendRequest<void>(addresses, {
          service: name,
          deadline,
          mayArriveTwice: isRead(request),
          open: (opened) => {
            attempt = opened;
            const parts = { attempt, body, onProcessing: beginWait };
            void proxy(request, Object.assign(new ServerResponse(request), parts));
          },
          receive: async (upstreamResponse) => {
            if (isStream(upstreamResponse)) {
              stream = upstreamResponse;
              beginWait();
            }
            // `onWait` refused it.
            if (attempt?.end !== undefined) return;
            if (upstreamResponse.statusCode === 401) {
              attempt?.abort(refusedSignature(name, log));
              return;
            }
            onUsage(usageOf(upstreamResponse));
            if (response.destroyed) upstreamResponse.destroy();
            else relayResponse(upstreamResponse, response);
          },
          onBroken: (error, address) =>
            log.warn({ err: error, upstream: name, address: address.name }, 'a service failed to respond'),
          onRepeat,
        });

      const abandon = () => {
        if (!response.writableFinished) attempt?.abort(CLIENT_HAS_GONE);
      };
      if (isRead(request)) response.on('close', abandon);
      try {
        await send().catch(async (error: unknown) => {
          if (error !== WAIT_IS_OVER) throw error;
          // A service cannot be told to end one wait, so it is asked again, and not to wait.
          request.url = withoutWait(request.url ?? '');
          await send();
        });
      } catch (error) {
        if (error === CLIENT_HAS_GONE) return;
        if (!(error instanceof NoResponse)) throw error;
        if (error.reason === 'deadline') log.warn({ upstream: name, path: pathOf(request) }, 'a request took too long');
        onFailure();
        throw noResponseTo(request, error);
      }
    },
  };
}

/** For a 401 of a service. The key of the client is valid: the gateway has checked it. */
function refusedSignature(name: string, log: Logger): DomainError {
  log.error({ upstream: name }, 'a service refuses the principal of the gateway: their clocks or keys differ');
  return overloaded(`The ${name} service refuses the signature of the gateway`, 'service_down');
}

const usageOf = ({ headers }: IncomingMessage) => ({
  cost: Number(headers[COST_HEADER] ?? 0),
  fetchedBytes: Number(headers[FETCHED_BYTES_HEADER] ?? 0),
});

const noResponseTo = (request: IncomingMessage, { message, reason, mayHaveArrived }: NoResponse): DomainError =>
  mayHaveArrived && !isRead(request) ? outcomeUnknown(message, reason) : overloaded(message, reason);

/** What a write had done before its refusal lasts. */
const refusalUnderWay = ({ code, message, details, headers }: DomainError, request: IncomingMessage) =>
  new DomainError(code, message, {
    details: isRead(request) ? details : { ...details, outcome: 'unknown' },
    headers,
  });

function withoutWait(target: string): string {
  const start = target.indexOf('?');
  // A query may contain further question marks.
  const [path, search] = start === -1 ? [target, ''] : [target.slice(0, start), target.slice(start)];
  const parameters = new URLSearchParams(search);
  parameters.set('wait', '0');
  return `${path}?${parameters.toString()}`;
}
