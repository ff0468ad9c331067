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
  keptBytes?: number | undefined;
  signal: AbortSignal;
}

/** Limit of the response headers, and of those of each interim response. */
const MAX_HEADER_BYTES = 16_384;
/** How many interim (1xx) responses may come before the final one. */
const MAX_INTERIM_RESPONSES = 8;
/** Milliseconds for the first bytes of a body that changes nothing: the response is a refusal, or too large. */
const DECIDED_WAIT = 1_000;

/** Sends one request and closes the connection at the end. Never rejects. */
export async function sendRequest({
  url,
  socket,
  method,
  prepared,
  maxBodyBytes,
  readsRefusals,
  keptBytes,
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
  const body = keptBody(keptBytes ?? maxBodyBytes);
  const failRequest = (reason: FailureReason, isLocal = false) =>
    resolve({
      kind: 'failure',
      reason: signal.aborted ? 'timeout' : reason,
      isLocal,
      ...(response && { status: response.statusCode ?? 0, ...(keptBytes !== undefined && { body: body.bytes() }) }),
    });
  let fail = failRequest;
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
    const respond = (bytes: Buffer) => resolve({ kind: 'response', status, headers, body: bytes });
    const end = () => respond(body.bytes());
    const isSuccess = status >= 200 && status <= 299;
    const isTooLarge = Number(headers['content-length'] ?? 0) > maxBodyBytes;
    // The status of a refusal counts even when its body is incomplete.
    const failBody = isSuccess ? fail : () => respond(Buffer.alloc(0));
    if (keptBytes !== undefined && (!isSuccess || isTooLarge)) {
      const decided = isSuccess ? () => failRequest('body_too_large') : end;
      fail = decided;
      readBody(received, { body, maxBodyBytes: keptBytes, end: decided, fail: decided });
      const timer = setTimeout(decided, DECIDED_WAIT);
      void promise.finally(() => clearTimeout(timer));
    } else if (!isSuccess && !readsRefusals) respond(Buffer.alloc(0));
    else if (isTooLarge) failBody('body_too_large');
    else readBody(received, { body, maxBodyBytes, end, fail: failBody });
  });
  request.end(prepared.body);
  return promise.finally(() => {
    request.destroy();
    // After a switch of protocols it does not belong to the request any more.
    socket.destroy();
  });
}

/** The first bytes of a body. */
function keptBody(limit: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    /** Returns the length of the body so far. */
    add: (chunk: Buffer): number => {
      const room = limit - length;
      // A part of a chunk would keep all of it in memory.
      if (room > 0) chunks.push(chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room)));
      length += chunk.length;
      return length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

function readBody(
  response: IncomingMessage,
  {
    body,
    maxBodyBytes,
    end,
    fail,
  }: {
    body: ReturnType<typeof keptBody>;
    maxBodyBytes: number;
    end: () => void;
    fail: (reason: FailureReason) => void;
  },
): void {
  response.on('data', (chunk: Buffer) => {
    if (body.add(chunk) > maxBodyBytes) fail('body_too_large');
  });
  response.once('end', end);
  response.on('error', () => fail('connection'));
  // Has no effect after `end`; without `end` the body is truncated.
  response.once('close', () => fail('connection'));
}
