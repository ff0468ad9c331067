import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isOwnServer } from './own-servers.ts';

/** Where a process of a service is. */
export interface Target {
  readonly url: URL;
  /** Leads the host name of the URL to the address of this process; `undefined` for the system's look-up. */
  readonly lookup: LookupFunction | undefined;
}

/** What the health check of a process said. */
export type Probe =
  | { state: 'up' | 'draining'; failure?: undefined; timedOut?: undefined }
  | { state: 'down'; failure: Error; timedOut: boolean };

/** Milliseconds. With `SUSPECT_AFTER_MS` before it, a process that hangs gets nothing more after two seconds. */
const TIMEOUT = 1_300;
const TICK = 100;

/**
 * Asks a process for its health, on a connection of its own. A process that is healthy and closes this connection is
 * draining. Time in which our own process did not run does not count: it could not have read the answer. The silence of
 * our own process, which serves all apps when it is embedded, says only that it is busy.
 */
export async function probe({ url, lookup }: Target): Promise<Probe> {
  const { promise, resolve } = Promise.withResolvers<Probe>();
  let timedOut = false;
  const fail = (failure: Error) => resolve({ state: 'down', failure, timedOut });
  const { get } = url.protocol === 'https:' ? https : http;
  const options = { agent: false, headers: { Connection: 'keep-alive' }, ...(lookup !== undefined && { lookup }) };
  const request = get(new URL('/healthz', url), options, (response) => {
    response.resume();
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) fail(new Error(`the health check returned ${statusCode}`));
    else resolve({ state: headers.connection === 'close' ? 'draining' : 'up' });
  });
  request.on('error', fail);
  let waited = 0;
  const timer = setInterval(() => {
    waited += TICK;
    if (waited < TIMEOUT) return;
    if (isOwnServer(url)) {
      // It is busy, not dead: it runs this.
      resolve({ state: 'up' });
      return;
    }
    timedOut = true;
    request.destroy(new Error('the health check timed out'));
  }, TICK);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    request.destroy();
  }
}
