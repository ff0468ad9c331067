import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A complete response. */
export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  /** The parsed body; `undefined` for an empty one, for lines, for Markdown and for a picture. */
  // Tests access bodies of every shape; the app validates the shapes itself (`checkReplies`).
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface Client {
  /** Any request; the others are shorter. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** `body` is sent as JSON; a string or bytes are sent unchanged. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** A client for the same app that sends more headers. */
  with(headers: Record<string, string>): Client;
}

// Not the global agent, whose idle connections an app that was restarted has closed.
const agent = new Agent({ keepAlive: true, maxSockets: 100 });

const isText = (headers: Headers) =>
  /^(?:application\/x-ndjson|text\/markdown|text\/html|image\/)/.test(headers.get('Content-Type') ?? '');

/** A PNG. */
export const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** What a response has that refuses a request, for `toMatchObject`. */
export const refusal = (status: number, code: string, more: object = {}) => ({ status, body: { code, ...more } });

/**
 * A client for one app. `headers` are read and sent with every request, later ones before earlier ones. They may include
 * Host, which `fetch` does not allow.
 */
export function httpClient(baseUrl: string, ...headers: readonly Readonly<Record<string, string>>[]): Client {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> => {
    const payload =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const outgoing = request(new URL(path, baseUrl), {
      agent,
      method,
      headers: {
        ...(payload !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(payload),
        }),
        ...(Object.assign({}, ...headers, more) as Record<string, string>),
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      const received = new Headers();
      for (const [name, value] of Object.entries(incoming.headers)) received.set(name, String(value));
      buffer(incoming).then((bytes) => {
        const read = bytes.toString();
        resolve({
          status: incoming.statusCode ?? 0,
          headers: received,
          bytes,
          text: read,
          body: read === '' || isText(received) ? undefined : JSON.parse(read),
        });
      }, reject);
    });
    outgoing.end(payload);
    return promise;
  };
  return {
    send,
    get: (path, more) => send('GET', path, undefined, more),
    post: (path, body, more) => send('POST', path, body, more),
    patch: (path, body, more) => send('PATCH', path, body, more),
    put: (path, body, more) => send('PUT', path, body, more),
    delete: (path, more) => send('DELETE', path, undefined, more),
    with: (more) => httpClient(baseUrl, ...headers, more),
  };
}
