import http from 'node:http';
import { text } from 'node:stream/consumers';

/** A client of one workspace of an instance on this machine. */
export interface WorkspaceApi {
  /** Returns the body of the response. @throws when the response is an error */
  get<Body>(path: string): Promise<Body>;
  /** `key` is the idempotency key. */
  post<Body>(path: string, body: object, key?: string): Promise<Body>;
}

export function workspaceApi(options: { baseUrl: string; host: string; token: string }): WorkspaceApi {
  const send = async (method: string, path: string, body?: object, key?: string): Promise<unknown> => {
    const { status, content } = await sendRequest(
      http.request(new URL(path, options.baseUrl), {
        method,
        headers: {
          // The workspace's host name may not resolve on this machine, and fetch does not allow this header.
          Host: options.host,
          Authorization: `Bearer ${options.token}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
        agent: false,
        timeout: 10_000,
      }),
      body === undefined ? '' : JSON.stringify(body),
    );
    if (status >= 400) throw new Error(`${method} ${path} returned ${status}: ${content}`);
    return JSON.parse(content);
  };
  return {
    get: async <Body>(path: string) => (await send('GET', path)) as Body,
    post: async <Body>(path: string, body: object, key?: string) => (await send('POST', path, body, key)) as Body,
  };
}

async function sendRequest(request: http.ClientRequest, body: string): Promise<{ status: number; content: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  request.once('response', resolve);
  request.once('error', reject);
  request.once('timeout', () => request.destroy(new Error('the request timed out')));
  request.end(body);
  const response = await promise;
  return { status: response.statusCode ?? 0, content: await text(response) };
}
