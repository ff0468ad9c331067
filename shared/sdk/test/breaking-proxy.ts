import net from 'node:net';
import { loopbackServer } from '@tocsin/testing';

/** What becomes of a connection: where in an exchange it is cut. */
const FATES = ['before the request', 'before the answer', 'within the answer', 'after the answer'] as const;
type Fate = (typeof FATES)[number];

/** Exchanges on a connection before its last one. */
const COMPLETE = 4;

/** A proxy that cuts every connection: each in another place, after some complete exchanges. */
export interface BreakingProxy {
  url: string;
  /** How many connections were cut in each place. */
  cuts: Record<Fate, number>;
  close(): Promise<void>;
}

export async function breakingProxy(serverUrl: string): Promise<BreakingProxy> {
  const target = new URL(serverUrl);
  const cuts = Object.fromEntries(FATES.map((fate) => [fate, 0])) as Record<Fate, number>;
  let connections = 0;
  const server = net.createServer((client) => {
    const fate = FATES[connections % FATES.length] ?? 'before the request';
    connections += 1;
    let requests = 0;
    const upstream = net.connect({ host: target.hostname, port: Number(target.port) });
    const isLast = () => requests > COMPLETE;
    const cut = () => {
      cuts[fate] += 1;
      client.resetAndDestroy();
      // The request that has arrived is carried out all the same.
      upstream.end();
    };
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.once('close', () => upstream.end());
    upstream.once('close', () => client.destroy());
    client.on('data', (bytes) => {
      // A small request arrives in one part, and the client sends the next one after the answer.
      if (bytes.includes(' HTTP/1.1\r\n')) requests += 1;
      if (isLast() && fate === 'before the request') cut();
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (client.destroyed) return;
      if (!isLast()) client.write(bytes);
      else if (fate === 'before the answer') cut();
      else if (fate === 'within the answer') client.write(bytes.subarray(0, bytes.length / 2), cut);
      else {
        cuts[fate] += 1;
        // A reset could overtake the answer.
        client.end(bytes);
      }
    });
  });
  const { port, close } = await loopbackServer(server);
  return { url: `http://127.0.0.1:${port}`, cuts, close };
}
