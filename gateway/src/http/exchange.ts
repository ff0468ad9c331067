import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_ID_HEADER, requestIdOf } from '@tocsin/http';
import { parseTarget, type RequestTarget } from '../domain/request-target.ts';
import type { Operation } from '../domain/route-table.ts';

/** A request on its way through the gateway, and what has been found out about it so far. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly target: RequestTarget;
  readonly method: string;
  /** For the log and the metrics. */
  workspace: string | undefined;
  keyId: number | undefined;
  operation: Operation | undefined;
}

/** How long a client that has its answer may go on sending its request; milliseconds. */
const LINGER = 30_000;

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const requestId = requestIdOf(request);
  response.setHeader(REQUEST_ID_HEADER, requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  if (hasBody(request)) hangUpLate(request, response);
  return {
    request,
    response,
    requestId,
    target: parseTarget(request.url ?? ''),
    method: request.method ?? '',
    workspace: undefined,
    keyId: undefined,
    operation: undefined,
  };
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Takes over from Node when the connection ends: with part of the body unread, hanging up resets it, and the client loses
 * the very answer that says why.
 */
function hangUpLate(request: IncomingMessage, response: ServerResponse): void {
  const asked = !response.shouldKeepAlive;
  response.shouldKeepAlive = true;
  response.once('finish', () => {
    const { socket } = request;
    if (!request.complete) {
      request.once('end', () => asked && socket.end());
      setTimeout(() => request.complete || socket.destroy(), LINGER).unref();
    } else if (asked) socket.end();
  });
}
