import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';

export interface RawResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  bytes: Buffer;
  /** The bytes as UTF-8. */
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface RawRequest {
  method?: string;
  /** Sent as it is. */
  path: string;
  headers?: http.OutgoingHttpHeaders;
  /** Strings and bytes are sent as they are, other values as JSON. */
  body?: unknown;
  /** Sends the body in chunks of so many bytes, without its length. */
  chunkSize?: number;
  agent?: http.Agent;
}

/** Sends a request with any Host header and path, which `fetch` does not allow. */
export async function sendRaw(url: string, raw: RawRequest): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const body =
    raw.body === undefined || typeof raw.body === 'string' || raw.body instanceof Uint8Array
      ? raw.body
      : JSON.stringify(raw.body);
  const { hostname, port } = new URL(url);
  const request = http.request({
    hostname,
    port,
    path: raw.path,
    method: raw.method ?? 'GET',
    agent: raw.agent ?? false,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(body !== undefined && raw.chunkSize === undefined && { 'Content-Length': Buffer.byteLength(body) }),
      ...raw.headers,
    },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString();
      const json = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        bytes,
        text,
        body: json ? JSON.parse(text) : undefined,
      });
    });
  });
  if (body === undefined || raw.chunkSize === undefined) request.end(body);
  else Readable.from(chunksOf(Buffer.from(body), raw.chunkSize)).pipe(request);
  return promise;
}

function* chunksOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Milliseconds until a response has begun; a busy machine may take a while. */
const BEGIN_TIMEOUT = 10_000;

/**
 * Sends bytes and returns all that arrives until the server closes the connection, or sends nothing more for
 * `idleTimeout` once it has begun to respond.
 */
export async function sendBytes(url: string, text: string, idleTimeout = 300): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), timeout: BEGIN_TIMEOUT });
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += String(chunk);
    socket.setTimeout(idleTimeout);
  });
  for (const end of ['timeout', 'close', 'error']) socket.on(end, () => resolve(received));
  socket.write(Buffer.from(text, 'latin1'));
  return promise.finally(() => socket.destroy());
}

/** A connection, with everything that it has received, as Latin-1. */
export type RawConnection = net.Socket & { received: string };

/**
 * Opens a connection that sends a text and then nothing.
 * @param from a loopback address
 */
export function openConnection(url: string, text = '', from = '127.0.0.1'): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), localAddress: from });
  const connection = Object.assign(socket, { received: '' });
  connection.setEncoding('latin1').on('data', (chunk) => (connection.received += String(chunk)));
  connection.on('error', () => undefined);
  connection.write(text);
  return connection;
}
