import type { ServerResponse } from 'node:http';
import type { Reply, Route } from './contract.ts';
import { type DomainError, errorBody } from './errors.ts';
import { VERSION_HEADER } from './preconditions.ts';

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends an error with its headers in the form of the contract (contract: Errors). */
export function sendError(response: ServerResponse, error: DomainError, requestId: string): void {
  response.setHeaders(new Map(Object.entries(error.headers)));
  sendJson(response, error.status, errorBody(error, requestId));
}

/** Sends what a route's handler returned, with the status of its contract unless the reply has its own. */
export function sendReply(response: ServerResponse, route: Route, reply: Reply): void {
  if (reply.revision !== undefined) response.setHeader(VERSION_HEADER, reply.revision);
  response.setHeaders(new Map(Object.entries(reply.headers ?? {})));
  const status = reply.status ?? route.reply.status;
  if (reply.text !== undefined) sendText(response, status, reply.text);
  else if (reply.body !== undefined) sendJson(response, status, reply.body);
  else {
    response.statusCode = status;
    response.end();
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/**
 * Compares a reply with its contract.
 * @throws Error when the body does not match the declared schema, or the revision header is missing or not declared
 */
export function checkReply(route: Route, reply: Reply): void {
  if (reply.text !== undefined || reply.status !== undefined) return;
  if (route.reply.body === undefined ? reply.body !== undefined : !route.reply.body.safeParse(reply.body).success) {
    const detail = route.reply.body?.safeParse(reply.body).error?.message;
    throw new Error(`the body of ${route.id} does not match its contract: ${detail ?? 'no body is declared'}`);
  }
  if ((route.reply.versioned === true) !== (reply.revision !== undefined)) {
    throw new Error(`the revision header of ${route.id} does not match its contract`);
  }
}
