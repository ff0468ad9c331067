/**
 * `requests` is one request to the public server from its beginning to its end. This file has what becomes known of it:
 * target, trace, workspace, key, operation, body and wait. Other rooms fill it in, and it is in memory only. Each
 * response gets its request ID, the client's or a new one, and headers that keep browsers from caching it or guessing
 * its type (contract: Requests). `domain/request-target.ts` reads the target of the request line, and says whether it
 * has characters that no URL may have. `access-log.ts` writes one line and one observation when the response is closed,
 * without query, token and body; a request that a crash ends has no line.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WorkspaceContext } from '@tocsin/schemas';
import { DomainError, REQUEST_ID_HEADER, requestIdOf } from '@tocsin/http';
import type { Context } from '@tocsin/runtime';
import type { Wait } from '../../upstreams/clients/upstream.ts';
import { parseTarget, type RequestTarget } from '../domain/request-target.ts';
import type { Operation } from '../../routes/domain/route-table.ts';

/** A request with its response, and what the gateway has found out about it so far. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly target: RequestTarget;
  readonly method: string;
  // For the log, the metrics and the span.
  /** The request's place in a trace, if it has one. */
  trace: Context | undefined;
  /** The slug of a workspace that exists, without a valid token. */
  slug: string | undefined;
  /** The workspace of a valid token. */
  workspace: WorkspaceContext | undefined;
  keyId: number | undefined;
  operation: Operation | undefined;
  /** The body, if it was read before the caller was known. */
  body: Buffer | undefined;
  /** Of the body, as far as it was read. */
  bodyBytes: number;
  /** When the request began to wait for events; the clock of `performance`. */
  waitingSince: number | undefined;
  /** The wait of such a request, to end it. */
  wait: Wait | undefined;
}

/** Sets the headers that every response has. */
export function openRequestContext(request: IncomingMessage, response: ServerResponse): RequestContext {
  const requestId = requestIdOf(request);
  response.setHeader(REQUEST_ID_HEADER, requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  return {
    request,
    response,
    requestId,
    target: parseTarget(request.url ?? ''),
    method: request.method ?? '',
    trace: undefined,
    slug: undefined,
    workspace: undefined,
    keyId: undefined,
    operation: undefined,
    body: undefined,
    bodyBytes: 0,
    waitingSince: undefined,
    wait: undefined,
  };
}

export const methodNotAllowed = (method: string, allow: readonly string[]) =>
  new DomainError('method_not_allowed', `The path does not allow ${method}`, { headers: { Allow: allow.join(', ') } });
