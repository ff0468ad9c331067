import net from 'node:net';
import type { AttackContext } from './attack.ts';
import type { Workspace } from '../systems/workspaces.ts';
import { SENDER_ADDRESS } from '../systems/send.ts';

interface ConnectionOptions {
  /** Requests that the attack will write; each is counted. By default one. */
  requests?: number;
  /** Is written at once. */
  first: string | Buffer;
  /** False: receives nothing, so that responses stay in the system's buffers. */
  reads?: boolean;
  /** Breaks the connection when that is written. */
  breaks?: boolean;
  from?: string;
}

/**
 * Connects to the gateway, and counts each response by its status; of requests without a response, when the connection is
 * closed. Returns a function that writes bytes of the attack's own on the connection.
 */
export async function connect(context: AttackContext, options: ConnectionOptions) {
  const { requests = 1, first, reads = true, breaks = false, from = SENDER_ADDRESS } = options;
  let unanswered = requests;
  for (let request = 0; request < requests; request += 1) context.countRequest();
  const connected = Promise.withResolvers<void>();
  const socket = net.connect({ ...context.gateway, localAddress: from }, connected.resolve);
  socket.on('error', () => undefined);
  socket.once('close', () => {
    connected.resolve();
    for (; unanswered > 0; unanswered -= 1) context.countOutcome('closed');
  });
  if (reads) {
    onStatus(socket, (status) => {
      unanswered -= 1;
      context.countOutcome(status);
    });
  } else socket.pause();
  await connected.promise;
  const write = (bytes: string | Buffer) => {
    if (!socket.destroyed) socket.write(bytes, () => breaks && socket.destroy());
  };
  write(first);
  return write;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;
/** One less than the length of the expression above. */
const CARRIED = 12;

/** Calls back with the status of each response; bodies of this API contain no status lines. */
function onStatus(socket: net.Socket, report: (status: number) => void): void {
  let carried = '';
  socket.on('data', (chunk: Buffer) => {
    const text = carried + chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(STATUS_LINE)) {
      end = match.index + match[0].length;
      report(Number(match[1]));
    }
    carried = text.slice(Math.max(end, text.length - CARRIED));
  });
}

/** The head of a request, as it is written on a connection. */
export function head(workspace: Workspace, requestLine: string, headers: Record<string, string> = {}): string {
  const lines = { Host: workspace.host, Authorization: `Bearer ${workspace.token}`, ...headers };
  return `${requestLine} HTTP/1.1\r\n${Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}
