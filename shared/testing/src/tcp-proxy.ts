import net from 'node:net';
import { loopbackServer } from './loopback-server.ts';

/** A TCP proxy that simulates network failures. */
export interface TcpProxy {
  /** The server's URL with the proxy's address. */
  readonly url: string;
  /** Resets all connections and every new one, until `restore`. */
  cut(): void;
  /** Keeps connections open but forwards nothing, until `restore`. */
  stall(): void;
  /**
   * Forwards nothing more on the connections that exist, ever, while new ones work: like a server that is reachable at
   * another address after its host has vanished.
   */
  strand(): void;
  /** New connections lead to another server, those that exist stay: like a name behind which servers are exchanged. */
  lead(serverUrl: string): void;
  /** Stalls after the server has sent this many more bytes; resolves then. */
  stallAfter(bytes: number): Promise<void>;
  restore(): void;
  close(): Promise<void>;
}

/** @param onSent called with all that clients send */
export async function tcpProxy(serverUrl: string, onSent?: (bytes: Buffer) => void): Promise<TcpProxy> {
  let target = new URL(serverUrl);
  const pairs = new Set<[net.Socket, net.Socket]>();
  const stranded = new WeakSet<[net.Socket, net.Socket]>();
  let state: 'open' | 'cut' | 'stalled' = 'open';
  let allowance: { left: number; spent: () => void } | undefined;

  const server = net.createServer((client) => {
    if (state === 'cut') return void client.resetAndDestroy();
    const upstream = net.connect({ host: target.hostname, port: Number(target.port) });
    const pair: [net.Socket, net.Socket] = [client, upstream];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.once('close', () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    client.on('data', (bytes) => {
      onSent?.(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      client.write(bytes.subarray(0, allowance?.left));
      if (allowance === undefined) return;
      allowance.left -= bytes.length;
      if (allowance.left > 0) return;
      proxy.stall();
      allowance.spent();
      allowance = undefined;
    });
    if (state === 'stalled') for (const socket of pair) socket.pause();
  });
  const { port, close } = await loopbackServer(server);
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const drop = () => {
    for (const pair of pairs) for (const socket of pair) reset(socket);
  };
  const proxy: TcpProxy = {
    url: url.href,
    cut: () => {
      state = 'cut';
      drop();
    },
    stall: () => {
      state = 'stalled';
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    strand: () => {
      for (const pair of pairs) {
        for (const socket of pair) socket.pause();
        stranded.add(pair);
      }
    },
    lead: (otherUrl) => {
      target = new URL(otherUrl);
    },
    stallAfter: async (bytes) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      allowance = { left: bytes, spent: resolve };
      await promise;
    },
    restore: () => {
      state = 'open';
      for (const pair of pairs) if (!stranded.has(pair)) for (const socket of pair) socket.resume();
    },
    close: async () => {
      drop();
      await close();
    },
  };
  return proxy;
}

/** Node never closes a socket that it resets while its end is being sent. */
function reset(socket: net.Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
