import http, { type IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isLocalError } from './failure.ts';
import type { FailureReason, PreparedRequest, SafeResponse } from './messages.ts';

export interface OutgoingRequest {
  url: URL;
  /** A connection to the host of the URL, for this request alone. */
  socket: TLSSocket;
  method: string;
  prepared: PreparedRequest;
  maxBodyBytes: number;
  readsRefusals: boolean;
  signal: AbortSignal;
}

/** Limit of the response headers, and of those of each interim response. */
const MAX_HEADER_BYTES = 16_384;
/** How many interim (1xx) responses may come before the final one. */
const MAX_INTERIM_RESPONSES = 8;

/** Sends one request and closes the connection at the end. Never rejects. */
export async function sendRequest({
  url,
  socket,
  method,
  prepared,
  maxBodyBytes,
  readsRefusals,
  signal,
}: OutgoingRequest): Promise<SafeResponse> {
  const { promise, resolve } = Promise.withResolvers<SafeResponse>();
  const request = http.request({
    createConnection: () => socket,
    signal,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...prepared.headers,
      host: url.host,
      connection: 'close',
      ...(prepared.body !== undefined && { 'content-length': String(Buffer.byteLength(prepared.body)) }),
    },
    maxHeaderSize: MAX_HEADER_BYTES,
  });

  let interimResponses = 0;
  let response: IncomingMessage | undefined;
  const fail = (reason: FailureReason, isLocal = false) =>
    resolve({
      kind: 'failure',
      reason: signal.aborted ? 'timeout' : reason,
      isLocal,
      ...(response && { status: response.statusCode ?? 0 }),
    });
  request.on('information', () => {
    interimResponses += 1;
    if (interimResponses > MAX_INTERIM_RESPONSES) request.destroy(new Error('too many interim responses'));
  });
  // Status 101: the request did not ask for another protocol, so the response ends here.
  request.once('upgrade', ({ statusCode: status = 0, headers }) => {
    resolve({ kind: 'response', status, headers, body: Buffer.alloc(0) });
  });
  request.on('error', (error) => {
    // The response has arrived, and its body will end: what follows on the connection, such as bytes that are no
    // response, does not count. Only an abort drops the body.
    if (response?.complete === true && !signal.aborted) return;
    fail('connection', isLocalError(error));
  });
  const failOnClose = () => fail('connection');
  request.once('close', failOnClose);
  request.once('response', (received) => {
    // The connection may close before the last bytes of the body are read.
    request.off('close', failOnClose);
    response = received;
    const { statusCode: status = 0, headers } = received;
    const succeed = (body: Buffer) => resolve({ kind: 'response', status, headers, body });
    if (status >= 200 && status <= 299) readBody(received, maxBodyBytes, { succeed, fail });
    // The status of a refusal counts even when its body is incomplete.
    else if (readsRefusals) readBody(received, maxBodyBytes, { succeed, fail: () => succeed(Buffer.alloc(0)) });
    else succeed(Buffer.alloc(0));
  });
  request.end(prepared.body);
  return promise.finally(() => {
    request.destroy();
    // After a switch of protocols it does not belong to the request any more.
    socket.destroy();
  });
}

function readBody(
  response: IncomingMessage,
  maxBytes: number,
  { succeed, fail }: { succeed: (body: Buffer) => void; fail: (reason: FailureReason) => void },
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) fail('body_too_large');
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBytes) fail('body_too_large');
    else chunks.push(chunk);
  });
  response.once('end', () => succeed(Buffer.concat(chunks)));
  response.on('error', () => fail('connection'));
  // Has no effect after `end`; without `end` the body is truncated.
  response.once('close', () => fail('connection'));
}
