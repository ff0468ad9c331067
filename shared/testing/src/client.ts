import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** An answer, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; `undefined` for an empty one. */
  // Tests reach into answers of every shape; the shapes themselves are checked by the app (`checkReplies`).
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** `body` is sent as JSON; a string or bytes as they are. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** The same client with more headers. */
  with(headers: Record<string, string>): Client;
}

// Of its own, so that connections which an app closed with its last life are not used on its next one.
const agent = new Agent({ keepAlive: true, maxSockets: 100 });

/** Speaks to one app; `headers` go with every request, and may name a Host, which `fetch` would not send. */
export function httpClient(baseUrl: string, headers: Record<string, string> = {}): Client {
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
        ...headers,
        ...more,
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      const received = new Headers();
      for (const [name, value] of Object.entries(incoming.headers)) received.set(name, String(value));
      text(incoming).then((read) => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: received,
          text: read,
          body: read === '' ? undefined : JSON.parse(read),
        });
      }, reject);
    });
    outgoing.end(payload);
    return promise;
  };
  return {
    get: (path, more) => send('GET', path, undefined, more),
    post: (path, body, more) => send('POST', path, body, more),
    patch: (path, body, more) => send('PATCH', path, body, more),
    delete: (path, more) => send('DELETE', path, undefined, more),
    with: (more) => httpClient(baseUrl, { ...headers, ...more }),
  };
}
