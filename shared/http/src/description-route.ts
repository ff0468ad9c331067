import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';

/** Where a service serves the description of its API, on the address that only other services reach. */
export const DESCRIPTION_PATH = '/openapi.json';

/** Returns the strong entity tag of these bytes, with its quotation marks: the same bytes have the same tag everywhere. */
export const entityTagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`;

/**
 * Serves the description of a service's API. Like health and metrics, it needs no principal: the gateway publishes what
 * it contains. A request that names the entity tag of the description gets 304, so that asking for changes costs
 * nothing.
 */
export function descriptionRoute(description: Buffer): RequestHandler {
  const tag = entityTagOf(description);
  return (request, response) => {
    response.setHeader('ETag', tag);
    // Reads the status, which is 200 here, and the headers of both.
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', description.length);
    response.end(description);
  };
}
