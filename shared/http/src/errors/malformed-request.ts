import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ownProperty } from '@tocsin/runtime';
import { DomainError, errorBody } from './errors.ts';

const NOT_ENCODED = {
  status: 400,
  message: 'The request is not valid HTTP: the path and the query must be percent-encoded, spaces too',
};
/** Statuses for errors of Node's HTTP parser. The error code is always `invalid_request`. */
const RESPONSES = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and headers are too long' },
  // What follows a space in the path is not the version of HTTP.
  HPE_INVALID_CONSTANT: NOT_ENCODED,
  HPE_INVALID_URL: NOT_ENCODED,
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
};
/** Milliseconds. */
const CLOSE_DELAY = 1_000;
const MALFORMED = { status: 400, message: 'The request is not valid HTTP' };

/** Sends an error response to bytes that are not a valid request, and closes the connection (contract: Errors). */
export function rejectMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message } = ownProperty(RESPONSES, error.code ?? '') ?? MALFORMED;
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
  // Delayed, because a reset could discard the response before the client has read it.
  setTimeout(() => socket.destroy(), CLOSE_DELAY).unref();
}
