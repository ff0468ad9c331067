import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { rejectMalformedRequest } from './malformed-request.ts';
import { cutOffStalledReaders } from './stalled-readers.ts';

export interface HttpServer {
  url: string;
  port: number;
  /** Accepts no new connections, waits for requests in progress, and closes. */
  close(): Promise<void>;
}

/** Enough for the longest list query of the contract: a hundred regions of 64 characters, percent-encoded. */
export const MAX_HEADER_BYTES = 131_072;

/** Milliseconds to wait for requests in progress before their connections are closed. */
const DRAIN_TIMEOUT = 15_000;

/**
 * @param address.stallTimeout after how many milliseconds a client that reads nothing of its response is disconnected
 * @throws the system's error, with `code` and `port`, if the address is not available
 */
export async function listen(
  handler: RequestListener,
  { stallTimeout, ...address }: { host: string; port: number; stallTimeout?: number },
): Promise<HttpServer> {
  let draining = false;
  const responses = new WeakMap<Duplex, ServerResponse>();
  // The handler rejects a missing Host with an error body in the usual format.
  const server = createServer({ requireHostHeader: false, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    responses.set(request.socket, response);
    // While draining: a client with a keep-alive connection must not send another request on it.
    // After an upgrade request: Node parses nothing that follows, so the client must send further requests on a new
    // connection.
    if (draining || offersUpgrade(request)) response.setHeader('Connection', 'close');
    handler(request, response);
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
  server.headersTimeout = 30_000;
  server.requestTimeout = 60_000;
  cutOffStalledReaders(server, stallTimeout);
  await startListening(server, address);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`,
    close: async () => {
      draining = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      const idle = setInterval(() => server.closeIdleConnections(), 100);
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT);
      await promise;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

const offersUpgrade = ({ headers }: IncomingMessage) => headers.upgrade !== undefined;

async function startListening(server: Server, address: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(address, resolve);
  await promise;
  server.removeListener('error', reject);
}
