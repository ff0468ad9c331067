import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError, errorBody } from './errors.ts';

/** What Node's parser refuses: the statuses are HTTP's, and no code of ours says more than `invalid_request`. */
const REFUSALS: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and header are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
};
const LINGER = 1_000;
const MALFORMED = { status: 400, message: 'The request is not valid HTTP' };

/** Answers what never became a request in the form of all other errors, and hangs up (contract: Errors). */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const requestId = randomUUID();
  const body = JSON.stringify(errorBody(new DomainError('invalid_request', message), requestId));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  );
  // Not at once: a reset would overtake the answer.
  setTimeout(() => socket.destroy(), LINGER).unref();
}
