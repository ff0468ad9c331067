import net from 'node:net';
import { loopbackServer } from './loopback-server.ts';

/** Between the ports that apps choose for themselves and those that systems give to outgoing connections. */
const FIRST = 30_000;
const END = 32_700;
/** The first port of a block is held open: that reserves the others. */
const BLOCK = 4;
let next = FIRST + ((process.pid * BLOCK * 7) % (END - FIRST));

/**
 * Returns up to three free loopback ports, which follow each other. No other process that calls this function gets one of
 * them before this process ends.
 */
export async function reservePorts(count: number): Promise<number[]> {
  for (let attempt = 0; attempt < (END - FIRST) / BLOCK; attempt += 1) {
    const block = next - (next % BLOCK);
    next = block + BLOCK < END ? block + BLOCK : FIRST;
    const lock = await listen(block);
    if (lock === undefined) continue;
    const ports = Array.from({ length: count }, (_, index) => block + 1 + index);
    const servers = await Promise.all(ports.map(listen));
    await Promise.all(servers.map(async (server) => server?.close()));
    if (!servers.includes(undefined)) return ports;
    await lock.close();
  }
  throw new Error(`cannot find ${count} free ports between ${FIRST} and ${END}`);
}

/** `undefined` if the port is taken. The server does not keep its process running. */
const listen = async (port: number) => loopbackServer(net.createServer().unref(), { port }).catch(() => undefined);
