import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** How long a client may go on sending a body after its response; milliseconds. */
const UNREAD_BODY_TIMEOUT = 30_000;

export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * A response that precedes the end of the body closes its connection: proxies stop sending the body then, and some send
 * the next request into what Tocsin still takes for the body. Node closes only after the body has ended: closing with a
 * part of it unread resets the connection, and the client loses the response that gives the reason.
 */
export function closeAfterBody(request: IncomingMessage, response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]) => {
    if (!request.complete) response.shouldKeepAlive = false;
    return Reflect.apply(writeHead, response, head) as ServerResponse;
  };
  const { socket } = request;
  // Node calls this after a response with `Connection: close`.
  socket.destroySoon = () => {
    const close = () => Socket.prototype.destroySoon.call(socket);
    if (request.complete) close();
    else request.once('end', close);
  };
  response.once('finish', () => {
    if (request.complete) return;
    setTimeout(() => request.complete || socket.destroy(), UNREAD_BODY_TIMEOUT).unref();
  });
}
