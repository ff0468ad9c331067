import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import { bind } from '@tocsin/http';

/** Below the ephemeral ports of systems: an outgoing connection cannot take one of these ports meanwhile. */
const FIRST = 20_000;
const LAST = 29_999;
const ATTEMPTS = 100;
/** A prime, so that processes with IDs near each other have different ports to choose from. */
const STEP = 61;
const CHOICES = Math.floor((LAST - FIRST + 1) / STEP);

/** Goes round, so that a port that is not used yet is not given twice. */
let choice = randomInt(CHOICES);

/**
 * Returns different free loopback ports. Until they are used, the next calls get others, and so does a process that was
 * started together with this one.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < count; attempt += 1) {
    if (attempt === ATTEMPTS) throw new Error(`cannot find ${count} free ports between ${FIRST} and ${LAST}`);
    choice = (choice + 1) % CHOICES;
    const port = FIRST + (process.pid % STEP) + STEP * choice;
    if ((await bindError({ host: '127.0.0.1', port })) === undefined) ports.add(port);
  }
  return [...ports];
}

/** The system's error when listening on an address; `undefined` when the address is free. */
export async function bindError(address: { host: string; port: number }): Promise<Error | undefined> {
  try {
    const server = await bind(createServer(), address);
    await server.close();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
