/**
 * `server` accepts connections and requests, for services and the gateway alike. It listens on all addresses of a host,
 * bounds the size of headers and the time in which headers and body arrive, answers what is no request with an error in
 * the usual form, and resets a client that takes nothing of its response for 30 seconds (contract: Unread responses). A
 * response that precedes the end of its body closes the connection (ADR 81). A server stops in two steps: from `drain`
 * on, it says so and closes connections behind their responses, and requests that wait end their waits; `close` accepts
 * no new connection, waits up to 15 seconds for requests in progress, and then closes their connections.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { bind } from './bind.ts';
import { newDrain, setDrain } from './drain.ts';
import { rejectMalformedRequest } from '../errors/malformed-request.ts';
import { cutOffStalledReaders } from './stalled-readers.ts';
import { closeAfterBody, hasBody } from './unread-bodies.ts';

export interface HttpServer {
  url: string;
  port: number;
  /**
   * Announces the end: readiness is refused, and every response asks its client to use another connection. Requests and
   * connections are still accepted.
   */
  drain(): void;
  /** Accepts no new connections, closes those without a request, waits for requests in progress, and closes. */
  close(): Promise<void>;
}

/** Enough for the longest list query of the contract: a hundred regions of 64 characters, percent-encoded. */
const MAX_HEADER_BYTES = 131_072;

/** Milliseconds to wait for requests in progress before their connections are closed. */
const DRAIN_TIMEOUT = 15_000;

/** How often Node looks for requests that do not arrive in time; milliseconds. */
const TIMEOUT_CHECK_INTERVAL = 1_000;

/**
 * @param address the host `localhost` is 127.0.0.1 and, where it exists, ::1; `stallTimeout`: after how many
 *   milliseconds a client that reads nothing of its response is disconnected
 * @param onConnection called for every new connection; may destroy it
 * @throws the system's error, with `code` and `port`, if the address is not available
 */
export async function listen(
  handler: RequestListener,
  { stallTimeout, ...address }: { host: string; port: number; stallTimeout?: number | undefined },
  onConnection?: (socket: Socket) => void,
): Promise<HttpServer> {
  const drain = newDrain();
  /** The latest of each connection. */
  const responses = new Map<Duplex, ServerResponse>();
  // The handler rejects a missing Host with an error body in the usual format.
  const options = {
    requireHostHeader: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
    // A request without a body has a stream that has ended already, and emits no events.
    optimizeEmptyRequests: true,
  };
  const server = createServer(options, (request, response) => {
    responses.set(request.socket, response);
    setDrain(request, drain);
    // While draining: a client with a keep-alive connection must not send another request on it.
    // After an upgrade request: Node parses nothing that follows, so the client must send further requests on a new
    // connection.
    if (drain.hasBegun || offersUpgrade(request)) closeAfter(response);
    if (hasBody(request)) closeAfterBody(request, response);
    handler(request, response);
  });
  drain.onBegin(() => responses.forEach(closeAfter));
  server.on('connection', (socket: Socket) => socket.once('close', () => responses.delete(socket)));
  if (onConnection !== undefined) server.on('connection', onConnection);
  // The body is asked for when it is read: a request that is refused before that need not send it, and its connection ends.
  server.on('checkContinue', (request, response) => {
    closeAfter(response);
    request.once('resume', () => {
      if (response.headersSent) return;
      if (!drain.hasBegun && !offersUpgrade(request)) response.removeHeader('Connection');
      response.writeContinue();
    });
    server.emit('request', request, response);
  });
  // Ignore an unknown Expect header.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // In the middle of a response a second one would corrupt it.
    if (responses.get(socket)?.headersSent === true && responses.get(socket)?.writableEnded === false) socket.destroy();
    else rejectMalformedRequest(error, socket);
  });
  // Longer than the keep-alive of reverse proxies, which would otherwise send requests on a closing connection.
  server.keepAliveTimeout = 65_000;
  server.headersTimeout = 10_000;
  // Headers and body; the gateway has a deadline of its own for bodies, with an error that says so.
  server.requestTimeout = 45_000;
  cutOffStalledReaders(server, stallTimeout);
  const bound = await bind(server, address);
  return {
    port: bound.port,
    url: `http://${bound.host}:${bound.port}`,
    drain: drain.begin,
    close: async () => {
      drain.begin();
      const closed = bound.close();
      const idle = setInterval(() => server.closeIdleConnections(), 100);
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

const offersUpgrade = ({ headers }: IncomingMessage) => headers.upgrade !== undefined;
