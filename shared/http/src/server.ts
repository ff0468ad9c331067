import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseMalformed } from './malformed.ts';

export interface HttpServer {
  url: string;
  port: number;
  /** Takes no new connection, lets requests under way finish, and closes. */
  close(): Promise<void>;
}

/** Room for the longest list query that the contract allows: a hundred regions of 64 characters, percent-encoded. */
export const MAX_HEADER_BYTES = 131_072;

/** A connection is dropped when the drain takes longer; milliseconds. */
const DRAIN_TIMEOUT = 15_000;

/** @throws the system's error, with `code` and `port`, when the address cannot be had */
export async function listen(handler: RequestListener, address: { host: string; port: number }): Promise<HttpServer> {
  let draining = false;
  const answering = new WeakMap<Duplex, ServerResponse>();
  // Whoever needs a Host refuses its absence in the form of all other errors.
  const server = createServer({ requireHostHeader: false, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    answering.set(request.socket, response);
    // A client with a kept-alive connection must move on, or the drain would wait for its next request.
    if (draining) response.setHeader('Connection', 'close');
    handler(request, response);
  });
  // An expectation that we know nothing of is no reason to refuse what goes with it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // In the middle of an answer, another one would only garble it.
    if (answering.get(socket)?.headersSent === true && answering.get(socket)?.writableEnded === false) socket.destroy();
    else refuseMalformed(error, socket);
  });
  // Longer than the keep-alive of the proxies before us, or they would send into a connection that we are closing.
  server.keepAliveTimeout = 65_000;
  server.headersTimeout = 30_000;
  server.requestTimeout = 60_000;
  await bound(server, address);
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

async function bound(server: Server, address: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(address, resolve);
  await promise;
  server.removeListener('error', reject);
}
