import type { ClientRequest, IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES } from '@tocsin/http';

/**
 * Stops sending a body on once it is over the limit. The service sees that it is, and refuses it; what the client still
 * sends is thrown away here. Only for bodies that did not announce their length.
 * @param onLimit called when the service has got all that it will get
 */
export function limitBody(request: IncomingMessage, onward: ClientRequest, onLimit: () => void): void {
  let length = 0;
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) return;
    request.removeListener('data', count);
    request.unpipe(onward);
    request.resume();
    onLimit();
  };
  // After the pipe's own listener, so that the chunk that breaks the limit still goes on.
  onward.once('pipe', () => request.on('data', count));
}
