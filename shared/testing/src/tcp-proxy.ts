import net from 'node:net';

/** Stands between a client and a server, and fails the way a network does. */
export interface TcpProxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** Resets every connection, and each new one, until it is mended. */
  cut(): void;
  /** Keeps connections open and lets nothing through any more, until it is mended. */
  stall(): void;
  /** Stalls once the server has sent so many more bytes, and answers when it has. */
  stallAfter(bytes: number): Promise<void>;
  mend(): void;
  close(): Promise<void>;
}

export async function tcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<[net.Socket, net.Socket]>();
  let state: 'whole' | 'cut' | 'stalled' = 'whole';
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
    client.on('data', (bytes) => upstream.write(bytes));
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
  const listening = Promise.withResolvers<void>();
  server.listen({ host: '127.0.0.1', port: 0 }, () => listening.resolve());
  await listening.promise;

  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  const drop = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
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
    stallAfter: async (bytes) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      allowance = { left: bytes, spent: resolve };
      await promise;
    },
    mend: () => {
      state = 'whole';
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    close: async () => {
      drop();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
  return proxy;
}
