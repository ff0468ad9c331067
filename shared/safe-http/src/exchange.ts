import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { FaultReason, Prepared, SafeAnswer } from './messages.ts';

export interface Exchange {
  url: URL;
  /** Where the connection goes, whatever the URL's name means by now. */
  address: string;
  method: string;
  prepared: Prepared;
  maxBodyBytes: number;
  signal: AbortSignal;
  ca: string | undefined;
}

/** An answer's head, and each interim answer before it. */
const MAX_HEAD_BYTES = 16_384;
/** Interim (1xx) answers that are put up with. */
const MAX_INTERIM = 8;

/** Without them no request of ours gets anywhere: nothing to hold against the other side. */
const OUR_FAULTS = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS']);

/** One request over one connection, closed when it is over. Never rejects. */
export async function exchange({
  url,
  address,
  method,
  prepared,
  maxBodyBytes,
  signal,
  ca,
}: Exchange): Promise<SafeAnswer> {
  const { promise, resolve } = Promise.withResolvers<SafeAnswer>();
  const { hostname } = url;
  const request = https.request({
    agent: false,
    signal,
    method,
    host: address,
    port: url.port === '' ? 443 : Number(url.port),
    path: `${url.pathname}${url.search}`,
    // An address has no server name; the certificate must then be for the address itself.
    servername: isIP(hostname) !== 0 || hostname.startsWith('[') ? '' : hostname,
    headers: {
      ...prepared.headers,
      host: url.host,
      connection: 'close',
      ...(prepared.body !== undefined && { 'content-length': String(Buffer.byteLength(prepared.body)) }),
    },
    maxHeaderSize: MAX_HEAD_BYTES,
    ...(ca !== undefined && { ca }),
  });

  let stage: 'connection' | 'tls' = 'connection';
  let interim = 0;
  let begun: { status?: number } = {};
  const fault = (reason: FaultReason, ours = false) =>
    resolve({ kind: 'fault', reason: signal.aborted ? 'timeout' : reason, ours, ...begun });
  request.once('socket', (socket: Socket) => {
    socket.once('connect', () => (stage = 'tls'));
    socket.once('secureConnect', () => (stage = 'connection'));
  });
  request.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM) request.destroy(new Error('too many interim answers'));
  });
  // 101: we asked for no other protocol, so there is nothing to go on with.
  request.once('upgrade', ({ statusCode: status = 0, headers }, socket) => {
    socket.destroy();
    resolve({ kind: 'answer', status, headers, body: Buffer.alloc(0) });
  });
  request.on('error', ({ code }: NodeJS.ErrnoException) => fault(stage, code !== undefined && OUR_FAULTS.has(code)));
  const closed = () => fault('connection');
  request.once('close', closed);
  request.once('response', (response) => {
    // The connection may close before its last bytes are read here.
    request.off('close', closed);
    const { statusCode: status = 0, headers } = response;
    begun = { status };
    const answer = (body: Buffer) => resolve({ kind: 'answer', status, headers, body });
    // Only a success has to be complete to count as what it says.
    if (status < 200 || status > 299) answer(Buffer.alloc(0));
    else readBody(response, maxBodyBytes, { answer, fault });
  });
  request.end(prepared.body);
  return promise.finally(() => request.destroy());
}

function readBody(
  response: IncomingMessage,
  maxBytes: number,
  then: { answer: (body: Buffer) => void; fault: (reason: FaultReason) => void },
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) then.fault('body_too_large');
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBytes) then.fault('body_too_large');
    else chunks.push(chunk);
  });
  response.once('end', () => then.answer(Buffer.concat(chunks)));
  response.on('error', () => then.fault('connection'));
  // Comes after `end`; without one the body was cut short.
  response.once('close', () => then.fault('connection'));
}
