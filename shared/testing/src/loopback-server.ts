import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on a port of a loopback address. */
interface LoopbackServer {
  readonly port: number;
  readonly connections: ReadonlySet<Socket>;
  /** Destroys its connections. */
  close(): Promise<void>;
}

/** @param address default: a free port of 127.0.0.1. @throws the system's error if the port is taken */
export async function loopbackServer(
  server: Server,
  { host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {},
): Promise<LoopbackServer> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  await once(server.listen({ host, port }), 'listening');
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
