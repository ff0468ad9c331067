import type { IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { ConnectionOptions, SecureContext } from 'node:tls';
import type { FailureReason, PreparedRequest, SafeResponse } from './messages.ts';

export interface OutgoingRequest {
  url: URL;
  /** The address to connect to; the URL's host name is not resolved again. */
  address: string;
  method: string;
  prepared: PreparedRequest;
  maxBodyBytes: number;
  signal: AbortSignal;
  /** With the certificates to trust. */
  secureContext: SecureContext;
}

/** Limit of the response headers, and of those of each interim response. */
const MAX_HEADER_BYTES = 16_384;
/** How many interim (1xx) responses may come before the final one. */
const MAX_INTERIM_RESPONSES = 8;

/** Errors whose cause is on our side: no route, or no free resources. */
const LOCAL_ERRORS = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
]);

/** Sends one request over a connection of its own and closes the connection at the end. Never rejects. */
export async function sendRequest({
  url,
  address,
  method,
  prepared,
  maxBodyBytes,
  signal,
  secureContext,
}: OutgoingRequest): Promise<SafeResponse> {
  const { promise, resolve } = Promise.withResolvers<SafeResponse>();
  const { hostname } = url;
  const options: RequestOptions & Pick<ConnectionOptions, 'secureContext'> = {
    agent: false,
    signal,
    method,
    host: address,
    port: url.port === '' ? 443 : Number(url.port),
    path: `${url.pathname}${url.search}`,
    // SNI does not allow addresses; the certificate must then be valid for the address itself.
    servername: isIP(hostname) !== 0 || hostname.startsWith('[') ? '' : hostname,
    headers: {
      ...prepared.headers,
      host: url.host,
      connection: 'close',
      ...(prepared.body !== undefined && { 'content-length': String(Buffer.byteLength(prepared.body)) }),
    },
    maxHeaderSize: MAX_HEADER_BYTES,
    secureContext,
  };
  const request = https.request(options);

  let stage: 'connection' | 'tls' = 'connection';
  let interimResponses = 0;
  let received: { status?: number } = {};
  const fail = (reason: FailureReason, isLocal = false) =>
    resolve({ kind: 'failure', reason: signal.aborted ? 'timeout' : reason, isLocal, ...received });
  request.once('socket', (socket: Socket) => {
    socket.once('connect', () => (stage = 'tls'));
    socket.once('secureConnect', () => (stage = 'connection'));
  });
  request.on('information', () => {
    interimResponses += 1;
    if (interimResponses > MAX_INTERIM_RESPONSES) request.destroy(new Error('too many interim responses'));
  });
  // Status 101: the request did not ask for another protocol, so the response ends here.
  request.once('upgrade', ({ statusCode: status = 0, headers }, socket) => {
    socket.destroy();
    resolve({ kind: 'response', status, headers, body: Buffer.alloc(0) });
  });
  request.on('error', ({ code }: NodeJS.ErrnoException) => fail(stage, code !== undefined && LOCAL_ERRORS.has(code)));
  const failOnClose = () => fail('connection');
  request.once('close', failOnClose);
  request.once('response', (response) => {
    // The connection may close before the last bytes of the body are read.
    request.off('close', failOnClose);
    const { statusCode: status = 0, headers } = response;
    received = { status };
    const succeed = (body: Buffer) => resolve({ kind: 'response', status, headers, body });
    // The status of a refusal counts even when its body is incomplete.
    if (status < 200 || status > 299) succeed(Buffer.alloc(0));
    else readBody(response, maxBodyBytes, { succeed, fail });
  });
  request.end(prepared.body);
  return promise.finally(() => request.destroy());
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
