import type { ClientRequest, IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES } from '@tocsin/http';

/**
 * Stops forwarding a body when it exceeds the limit. The service has received more than the limit then and refuses the
 * request; the rest of the body is discarded here. Only for bodies without a Content-Length.
 * @param onLimit called when the service has received all that is forwarded
 */
export function limitBody(request: IncomingMessage, upstreamRequest: ClientRequest, onLimit: () => void): void {
  let length = 0;
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) return;
    request.removeListener('data', count);
    request.unpipe(upstreamRequest);
    request.resume();
    onLimit();
  };
  // Added after the pipe's own listener, so that the chunk that exceeds the limit is still forwarded.
  upstreamRequest.once('pipe', () => request.on('data', count));
}
