import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on a free port of a loopback address. */
interface LoopbackServer {
  readonly port: number;
  readonly connections: ReadonlySet<Socket>;
  /** Destroys its connections. */
  close(): Promise<void>;
}

export async function loopbackServer(server: Server, host = '127.0.0.1'): Promise<LoopbackServer> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  await once(server.listen(0, host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    close: async () => {
      const closed = once(server.close(), 'close');
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
