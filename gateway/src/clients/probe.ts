import http from 'node:http';
import https from 'node:https';

/** Milliseconds. With the patience before it, a service that hangs is given up within two seconds. */
const TIMEOUT = 1_300;
const TICK = 100;

/**
 * Asks a service for its health, on a connection of its own. Resolves with the failure, or `undefined` when the service
 * is healthy. Time in which this process itself did not run does not count: a process that was blocked, perhaps by the
 * same service in the embedded app, could not have read the answer.
 */
export async function probe(target: URL): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  const send = target.protocol === 'https:' ? https.get : http.get;
  const request = send(new URL('/healthz', target), { agent: false }, (response) => {
    response.resume();
    const { statusCode = 0 } = response;
    resolve(statusCode === 200 ? undefined : new Error(`the health check returned ${statusCode}`));
  });
  request.on('error', resolve);
  let waited = 0;
  const timer = setInterval(() => {
    waited += TICK;
    if (waited >= TIMEOUT) request.destroy(new Error('the health check timed out'));
  }, TICK);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    request.destroy();
  }
}
