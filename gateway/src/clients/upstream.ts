import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { unavailable } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { limitBody } from './body-limit.ts';
import { leavesTheHouse } from './forwarded-headers.ts';
import { upstreamBreaker } from './upstream-breaker.ts';

/** A service behind the gateway. */
export interface Upstream {
  /** False while it is taken for dead. */
  readonly available: boolean;
  /**
   * Sends a request on as it stands, once, and streams the answer back. Resolves when there is nothing left to decide.
   * @throws DomainError `service_unavailable` when no answer came; nothing has been sent to the client then
   */
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  stop(): void;
}

export interface UpstreamOptions {
  name: string;
  url: string;
  /** Milliseconds from the request's end to the answer's beginning. */
  timeout: number;
  log: Logger;
  onFailure: () => void;
}

/** A request under way. */
interface Attempt {
  resolve: () => void;
  reject: (error: Error) => void;
  onward: ClientRequest | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Decided: answered, failed, or nobody's any more. */
  over: boolean;
}

const CONNECT_TIMEOUT = 2_000;
const PROBE_TIMEOUT = 1_000;
/** For the slowest client to read the longest answer. */
const ANSWER_TIMEOUT = 120_000;
/** More than this at once means that the service hangs. */
const MOST_REQUESTS = 1_000;

export function upstream(options: UpstreamOptions): Upstream {
  const { name, log } = options;
  const target = new URL(options.url);
  const agent = new (target.protocol === 'https:' ? https : http).Agent({ keepAlive: true, maxFreeSockets: 256 });
  const attempts = new WeakMap<IncomingMessage, Attempt>();
  let underWay = 0;

  const breaker = upstreamBreaker({
    probe: async () => probe(target),
    onChange: (closed) =>
      log.warn({ upstream: name }, closed ? 'a service answers again' : 'a service does not answer'),
  });

  const conclude = (attempt: Attempt) => {
    attempt.over = true;
    clearTimeout(attempt.timer);
  };

  const giveUp = (attempt: Attempt, milliseconds: number, reason: string) => {
    clearTimeout(attempt.timer);
    attempt.timer = setTimeout(() => attempt.onward?.destroy(new Error(reason)), milliseconds);
  };

  const onProxyRequest = (onward: ClientRequest, request: IncomingMessage) => {
    const attempt = attempts.get(request);
    if (attempt === undefined) return;
    attempt.onward = onward;
    const awaitAnswer = () => {
      if (attempt.over || onward.socket?.connecting === true) return;
      giveUp(attempt, options.timeout, 'no answer in time');
    };
    // A slow client is not a slow service: the time runs from the end of the request.
    request.once('end', awaitAnswer);
    if (request.headers['content-length'] === undefined) limitBody(request, onward, awaitAnswer);
    if (onward.socket?.connecting === true) {
      giveUp(attempt, CONNECT_TIMEOUT, 'no connection in time');
      onward.socket.once('connect', () => {
        clearTimeout(attempt.timer);
        if (request.readableEnded) awaitAnswer();
      });
    }
  };

  const onAnswer = (answer: IncomingMessage, request: IncomingMessage, response: ServerResponse) => {
    const attempt = attempts.get(request);
    if (attempt === undefined || attempt.over) return;
    conclude(attempt);
    breaker.record(undefined);
    const timer = setTimeout(() => answer.destroy(), ANSWER_TIMEOUT);
    answer.once('close', () => clearTimeout(timer));
    relay(answer, response);
    attempt.resolve();
  };

  const abandon = (request: IncomingMessage) => {
    const attempt = attempts.get(request);
    if (attempt === undefined || attempt.over) return;
    conclude(attempt);
    attempt.resolve();
  };

  const onError = (error: Error, request: IncomingMessage, response: Pick<ServerResponse, 'destroyed'>) => {
    const attempt = attempts.get(request);
    // Whatever breaks after the answer began cuts the client's answer short; there is no better way to tell it.
    if (attempt === undefined || attempt.over) return;
    if (request.socket.destroyed || response.destroyed) {
      abandon(request);
      return;
    }
    conclude(attempt);
    breaker.record(error);
    options.onFailure();
    log.warn({ err: error, upstream: name }, 'a service failed to answer');
    // The rest of the body goes by unread, or the connection could not carry the next request.
    request.unpipe();
    request.resume();
    attempt.reject(unavailable(`The ${name} service does not answer`));
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
        server.on('proxyRes', onAnswer);
        server.on('error', (error, request, response) => {
          if (request !== undefined && response !== undefined) onError(error, request, response);
        });
        // The client went away first.
        server.on('econnreset', (_error, request) => abandon(request));
      },
    ],
  });

  return {
    get available() {
      return breaker.closed;
    },
    forward: async (request, response) => {
      if (!breaker.closed || underWay >= MOST_REQUESTS) throw unavailable(`The ${name} service does not answer`);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      attempts.set(request, { resolve, reject, onward: undefined, timer: undefined, over: false });
      underWay += 1;
      response.once('close', () => {
        underWay -= 1;
      });
      void proxy(request, response, (error) => onError(error as Error, request, response));
      await promise;
    },
    stop: () => {
      breaker.stop();
      agent.destroy();
    },
  };
}

/** The answer as it came, but for what belongs to its own connection and what is between us. */
function relay(answer: IncomingMessage, response: ServerResponse): void {
  response.statusCode = answer.statusCode ?? 502;
  const { rawHeaders } = answer;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (leavesTheHouse(name)) response.appendHeader(name, rawHeaders[index + 1] ?? '');
  }
  answer.pipe(response);
}

async function probe(target: URL): Promise<Error | undefined> {
  try {
    const answer = await fetch(new URL('/healthz', target), { signal: AbortSignal.timeout(PROBE_TIMEOUT) });
    await answer.body?.cancel();
    return answer.ok ? undefined : new Error(`the probe answered ${answer.status}`);
  } catch (error) {
    return error as Error;
  }
}
