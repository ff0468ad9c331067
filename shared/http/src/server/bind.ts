import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';

/** The addresses that a host setting stands for: `localhost` is both loopback addresses, any other host is itself. */
const addressesOf = (host: string): readonly string[] => (host === 'localhost' ? ['127.0.0.1', '::1'] : [host]);

export interface BoundServer {
  port: number;
  /** The first of the addresses, as in a URL. */
  host: string;
  /** Accepts no new connections; resolves when all are closed. */
  close(): Promise<void>;
}

/** As Node's HTTP server opens its own sockets. */
const SOCKETS = { allowHalfOpen: true, noDelay: true };

/** This machine does not have the address, or not its family. */
const MISSING_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);
/** With port 0, the port that the system gives for one address may be taken on the other. */
const PORT_ATTEMPTS = 5;

/**
 * Listens on all addresses of a host, on the same port. An address that this machine does not have is left out unless
 * it is the only one: many machines have no IPv6.
 * @throws the system's error, with `code` and `port`
 */
export async function bind(server: Server, { host, port }: { host: string; port: number }): Promise<BoundServer> {
  const addresses = addressesOf(host);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await bindAll(server, addresses, port);
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (port !== 0 || !isTaken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function bindAll(server: Server, addresses: readonly string[], port: number): Promise<BoundServer> {
  const listening: { server: SocketServer; host: string }[] = [];
  let lastError: unknown;
  for (const host of addresses) {
    const bound = listening[0] === undefined ? undefined : portOf(listening[0].server);
    // An HTTP server listens once; the connections of another address are handed to it.
    const one = bound === undefined ? server : createServer(SOCKETS, (socket) => server.emit('connection', socket));
    try {
      await once(one.listen({ host, port: bound ?? port }), 'listening');
      listening.push({ server: one, host });
    } catch (error) {
      lastError = error;
      if (MISSING_ADDRESS.has((error as NodeJS.ErrnoException).code ?? '')) continue;
      await Promise.all(listening.map(async ({ server: other }) => close(other)));
      throw error;
    }
  }
  const [first] = listening;
  if (first === undefined) throw lastError;
  return {
    port: portOf(first.server),
    host: first.host.includes(':') ? `[${first.host}]` : first.host,
    close: async () => {
      await Promise.all(listening.map(async ({ server: one }) => close(one)));
    },
  };
}

const portOf = (server: SocketServer) => (server.address() as AddressInfo).port;

const close = async (server: SocketServer) => once(server.close(), 'close');
