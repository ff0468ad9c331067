type Body = string | Uint8Array<ArrayBuffer> | null;
type LocalInit = { method: string; headers: Headers; body: Body; signal: AbortSignal };
type Fetch = (url: URL, init: LocalInit) => Promise<Response>;

/** What is used of Node, whose types only some programs have. */
interface IncomingMessage {
  statusCode?: number;
  rawHeaders: readonly string[];
  destroy(): void;
  resume(): void;
}
interface Builtins {
  'node:http': {
    request(
      options: object,
      onResponse: (message: IncomingMessage) => void,
    ): { on(event: 'error', listener: (error: Error) => void): void; end(body?: Exclude<Body, null>): void };
  };
  'node:https': Builtins['node:http'];
  'node:stream': { Readable: { toWeb(message: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> } };
}
interface NodeProcess {
  getBuiltinModule?<Name extends keyof Builtins>(name: Name): Builtins[Name];
}

/**
 * `fetch` for names below `localhost`, which browsers reach on this machine: Node asks the system for their address, and
 * many systems know none. Undefined for other names, and where this is not Node.
 */
export function localFetch({ hostname, protocol }: URL): Fetch | undefined {
  if (!hostname.endsWith('.localhost')) return undefined;
  // Not an import, which bundlers for browsers would follow.
  const builtin = (globalThis as { process?: NodeProcess }).process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  const { request } = protocol === 'https:' ? builtin('node:https') : builtin('node:http');
  const { Readable } = builtin('node:stream');
  return async (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const options = {
        ...{ host: '127.0.0.1', port: url.port, path: url.pathname + url.search, servername: hostname },
        ...{ method, signal, headers: { ...Object.fromEntries(headers), Host: url.host } },
      };
      const httpRequest = request(options, (message) => {
        const { statusCode: status = 0, rawHeaders } = message;
        if (status >= 300 && status < 400) {
          message.destroy();
          return reject(new TypeError('unexpected redirect'));
        }
        const received = new Headers();
        for (let index = 0; index < rawHeaders.length; index += 2)
          received.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
        const isEmpty = [204, 205].includes(status);
        if (isEmpty) message.resume();
        resolve(new Response(isEmpty ? null : Readable.toWeb(message), { status, headers: received }));
      });
      httpRequest.on('error', reject);
      httpRequest.end(body ?? undefined);
    });
}
