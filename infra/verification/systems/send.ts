import { Agent, request } from 'node:http';
import type { Workspace } from './workspaces.ts';

/**
 * How a request ended: with a status, with a connection that was closed before a response was complete
 * (`closed`), or not at all (`silent`).
 */
export type Outcome = number | 'closed' | 'silent';

export interface SentRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  /** Sent as JSON; text and bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The loopback address that the request comes from. */
  from?: string;
  /** By default connections are kept and shared. */
  agent?: Agent;
  /** Characters of the response's body that are kept; 4,096 by default. */
  kept?: number;
}

export interface ReceivedAnswer {
  outcome: Outcome;
  headers: NodeJS.Dict<string | string[]>;
  /** The beginning of the body. */
  text: string;
  /** Of the body, as far as it was received. */
  bytes: number;
  /** Milliseconds until the response was complete. */
  ms: number;
  /** The code or name of the error that broke the connection. */
  error?: string;
}

/** Not the address of other clients on this machine: each address has limits of its own. */
export const SENDER_ADDRESS = '127.0.0.2';

const shared = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Sends one request and reads the whole response. Never throws. `signal` ends it without a result: `silent`. */
export async function send(
  gateway: { host: string; port: number },
  workspace: Pick<Workspace, 'host' | 'token'>,
  options: SentRequest & { signal: AbortSignal },
): Promise<ReceivedAnswer> {
  const { method = 'GET', path, body, headers, from = SENDER_ADDRESS, agent = shared, kept = 4_096, signal } = options;
  const { promise, resolve } = Promise.withResolvers<ReceivedAnswer>();
  const start = performance.now();
  let bytes = 0;
  const settle = (answer: Omit<ReceivedAnswer, 'bytes' | 'ms'>) =>
    resolve({ ...answer, bytes, ms: performance.now() - start });
  const fail = ({ code, name }: NodeJS.ErrnoException) =>
    settle({ outcome: signal.aborted ? 'silent' : 'closed', headers: {}, text: '', error: code ?? name });
  const payload =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const outgoing = request({
    ...gateway,
    agent,
    method,
    path,
    localAddress: from,
    signal,
    headers: {
      Host: workspace.host,
      Authorization: `Bearer ${workspace.token}`,
      ...(payload !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(payload),
      }),
      ...headers,
    },
  });
  outgoing.once('error', fail);
  outgoing.once('response', (incoming) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (text.length < kept) text += chunk.toString('latin1', 0, kept);
    });
    incoming.once('error', fail);
    incoming.once('close', () => fail(new Error('the response ended early')));
    incoming.once('end', () => settle({ outcome: incoming.statusCode ?? 0, headers: incoming.headers, text }));
  });
  outgoing.end(payload);
  return promise;
}
