import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, type Metrics } from '@tocsin/runtime';
import { clientAddress, clientNetwork, type TrustedProxies } from '../domain/client-address.ts';

/** Bounds the connections to the public server, in all and for each client network. */
export interface ConnectionLimits {
  /** Counts a new connection; closes it, or an idle one, when there are too many. */
  onConnection(socket: Socket): void;
  /** Marks the connection as busy until the response is closed. */
  onRequest(request: IncomingMessage, response: ServerResponse): void;
}

/** The connections of one network; or all. */
interface Connections {
  count: number;
  /** Those without a request, in the order in which they became idle. */
  idle: Set<Socket>;
}

interface Tracked {
  members: readonly Connections[];
  /** Requests under way; more than one if the client sends them without waiting for responses. */
  requests: number;
}

const noConnections = (): Connections => ({ count: 0, idle: new Set() });

/**
 * When there are too many connections, the one that has been idle for the longest time makes room for a new one; if all
 * are busy, the new one is closed. Trusted proxies have the connections of many clients, so they have no bound of their
 * own.
 */
export function connectionLimits(options: {
  total: number;
  perNetwork: number;
  trustedProxies: TrustedProxies;
  metrics: Metrics;
}): ConnectionLimits {
  const { total, perNetwork, trustedProxies, metrics } = options;
  const closed = new Counter({
    name: 'tocsin_gateway_connections_closed_total',
    help: 'Connections that were refused, or closed while idle to make room for another one',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // A counter that appears with its first connection hides that connection from `rate` and `increase`.
  for (const reason of ['refused', 'idle']) closed.inc({ reason }, 0);
  const all = noConnections();
  const networks = new Map<string, Connections>();
  const tracked = new WeakMap<Socket, Tracked>();

  const hasRoom = (connections: Connections, limit: number): boolean => {
    if (connections.count < limit) return true;
    const [oldest] = connections.idle;
    if (oldest === undefined) return false;
    remove(oldest);
    oldest.destroy();
    closed.inc({ reason: 'idle' });
    return true;
  };

  const remove = (socket: Socket) => {
    for (const connections of tracked.get(socket)?.members ?? []) {
      connections.count -= 1;
      connections.idle.delete(socket);
    }
    tracked.delete(socket);
  };

  return {
    onConnection: (socket) => {
      const peer = socket.remoteAddress ?? '';
      const network = trustedProxies.has(peer)
        ? undefined
        : clientNetwork(clientAddress(peer, undefined, trustedProxies));
      const ofNetwork = network === undefined ? undefined : (networks.get(network) ?? noConnections());
      // First within the network, so that a network at its bound costs no other one a connection.
      if ((ofNetwork !== undefined && !hasRoom(ofNetwork, perNetwork)) || !hasRoom(all, total)) {
        socket.destroy();
        closed.inc({ reason: 'refused' });
        return;
      }
      if (network !== undefined && ofNetwork !== undefined) networks.set(network, ofNetwork);
      const members = ofNetwork === undefined ? [all] : [all, ofNetwork];
      tracked.set(socket, { members, requests: 0 });
      for (const connections of members) {
        connections.count += 1;
        connections.idle.add(socket);
      }
      socket.once('close', () => {
        remove(socket);
        if (network !== undefined && ofNetwork?.count === 0 && networks.get(network) === ofNetwork)
          networks.delete(network);
      });
    },
    onRequest: ({ socket }, response) => {
      const connection = tracked.get(socket);
      if (connection === undefined) return;
      connection.requests += 1;
      for (const { idle } of connection.members) idle.delete(socket);
      response.on('close', () => {
        connection.requests -= 1;
        if (connection.requests > 0 || !tracked.has(socket) || socket.destroyed) return;
        for (const { idle } of connection.members) idle.add(socket);
      });
    },
  };
}
