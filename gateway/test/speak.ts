import http from 'node:http';
import net from 'node:net';

export interface Heard {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface Said {
  method?: string;
  /** Sent as it stands. */
  path: string;
  headers?: http.OutgoingHttpHeaders;
  /** A string or bytes as they are; anything else as JSON. */
  body?: unknown;
  agent?: http.Agent;
}

/** A request with a Host header and a path of one's own choice, which `fetch` does not allow. */
export async function speak(url: string, said: Said): Promise<Heard> {
  const { promise, resolve, reject } = Promise.withResolvers<Heard>();
  const body =
    said.body === undefined || typeof said.body === 'string' || said.body instanceof Uint8Array
      ? said.body
      : JSON.stringify(said.body);
  const { hostname, port } = new URL(url);
  const request = http.request({
    hostname,
    port,
    path: said.path,
    method: said.method ?? 'GET',
    agent: said.agent ?? false,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      ...said.headers,
    },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const json = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
        body: json ? JSON.parse(text) : undefined,
      });
    });
  });
  request.end(body);
  return promise;
}

/** Sends bytes, and hears what comes until the other side hangs up or falls silent. */
export async function sayRaw(url: string, text: string, silence = 300): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), timeout: silence });
  let heard = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => (heard += String(chunk)));
  for (const end of ['timeout', 'close', 'error']) socket.on(end, () => resolve(heard));
  socket.write(Buffer.from(text, 'latin1'));
  return promise.finally(() => socket.destroy());
}
