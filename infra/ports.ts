import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/** Below the ports that systems hand out for outgoing connections, so that none of those can sit on ours meanwhile. */
const FIRST = 20_000;
const LAST = 29_999;
const ATTEMPTS = 100;

/** Loopback ports that nobody listens on now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < count; attempt += 1) {
    if (attempt === ATTEMPTS) throw new Error(`found no ${count} free ports between ${FIRST} and ${LAST}`);
    const port = randomInt(FIRST, LAST + 1);
    if ((await whyTaken({ host: '127.0.0.1', port })) === undefined) ports.add(port);
  }
  return [...ports];
}

/** Why nobody may listen there, as the system says it; `undefined` when the address is free. */
export async function whyTaken(address: { host: string; port: number }): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  const server = createServer();
  server.once('error', resolve);
  server.listen(address, () => resolve(undefined));
  const reason = await promise;
  if (reason === undefined) {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    await closed.promise;
  }
  return reason;
}
