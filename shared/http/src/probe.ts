import { getOnce, type Target } from './get-once.ts';

/** What the health check of a process said. */
export type Probe =
  | { state: 'up' | 'draining'; failure?: undefined; timedOut?: undefined }
  | { state: 'down'; failure: Error; timedOut: boolean };

/** Milliseconds. With `SUSPECT_AFTER_MS` before it, a process that hangs is given up within two seconds. */
const TIMEOUT = 1_300;
const TICK = 100;

/**
 * Asks a process for its health, on a connection of its own. A process that is healthy and closes this connection is
 * draining. Time in which our own process did not run does not count: a process that was blocked, perhaps by the same
 * service in the embedded app, could not have read the answer.
 */
export async function probe(target: Target): Promise<Probe> {
  const { promise, resolve } = Promise.withResolvers<Probe>();
  let timedOut = false;
  const fail = (failure: Error) => resolve({ state: 'down', failure, timedOut });
  const request = getOnce(target, '/healthz', { headers: { Connection: 'keep-alive' } }, (response) => {
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
