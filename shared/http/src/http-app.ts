import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Dependency,
  Histogram,
  isDatabaseUnavailable,
  type Keyring,
  type Logger,
  type Metrics,
  readiness,
} from '@tocsin/runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { readJsonBody } from './body.ts';
import { deprecationHeaders } from './deprecation.ts';
import { DomainError, errorBody, notFound, unavailable } from './errors.ts';
import { readPath, readQuery } from './parameters.ts';
import {
  IDEMPOTENCY_HEADER,
  IF_VERSION_HEADER,
  readExpectedRevision,
  readIdempotencyKey,
  VERSION_HEADER,
} from './preconditions.ts';
import { type Principal, PRINCIPAL_HEADER, verifyPrincipal } from './principal.ts';
import type { InternalRoute, Reply, Route } from './route.ts';
import { validate, validateQuery } from './validate.ts';

export interface HttpAppOptions {
  routes: readonly Route[];
  internalRoutes?: readonly InternalRoute[];
  dependencies: readonly Dependency[];
  /** Verifies principals: `openKeyring(…, PRINCIPAL_PURPOSE)`. */
  keyring: Keyring;
  log: Logger;
  metrics: Metrics;
  /** In tests: every answer must be what its route declares. */
  checkReplies?: boolean;
}

const NOTHING = z.strictObject({});

/** A service's HTTP face: its routes for signed principals, its internal routes, health and metrics. */
export function httpApp(options: HttpAppOptions): Express {
  const { log, metrics, keyring } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Ours is the only reading of the query string.
  app.set('query parser', false);
  // A path means here exactly what it means to the gateway, which has checked the scope by it.
  app.enable('case sensitive routing');
  app.enable('strict routing');

  const duration = new Histogram({
    name: 'tocsin_http_request_duration_seconds',
    help: 'Duration of requests, by route and status',
    labelNames: ['route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });

  app.get('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  app.get('/readyz', async (_request, response) => {
    const { ready, dependencies } = await readiness(options.dependencies);
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unready', dependencies });
  });
  app.get('/metrics', async (_request, response) => {
    response.setHeader('Content-Type', metrics.contentType);
    response.end(await metrics.metrics());
  });

  for (const route of [...options.routes].sort(literalFirst)) {
    app[route.method](expressPath(route.path), async (request, response) => {
      const stop = duration.startTimer({ route: route.id });
      response.once('close', () => stop({ status: response.statusCode }));
      const principal = verifyPrincipal(keyring, request.get(PRINCIPAL_HEADER));
      if (principal?.kind !== 'user')
        throw new DomainError('authentication_required', 'The request does not come from the gateway');
      // First of all: a refusal is told by a deprecated operation, too.
      if (route.deprecated !== undefined) {
        const headers = deprecationHeaders(route.deprecated, request.params as Record<string, string>);
        response.setHeaders(new Map(Object.entries(headers)));
      }
      const reply = await answer(route, request, principal, log);
      if (options.checkReplies === true) checkReply(route, reply);
      sendReply(response, route, reply);
    });
  }
  for (const { path, query, handle } of options.internalRoutes ?? []) {
    app.get(path, async (request, response) => {
      if (verifyPrincipal(keyring, request.get(PRINCIPAL_HEADER))?.kind !== 'service') {
        throw new DomainError('authentication_required', 'The request does not come from one of our services');
      }
      sendJson(response, 200, await handle(validateQuery(query, readQuery(searchOf(request), query))));
    });
  }

  app.use(() => {
    throw notFound('The path');
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    sendError(response, toDomainError(error, request, log), requestIdOf(request));
  });
  return app;
}

/** What the route's handler answers, after the checks in the order of the contract: path, headers, query, body. */
async function answer(route: Route, request: Request, principal: Principal, log: Logger): Promise<Reply> {
  const requestId = requestIdOf(request);
  const params = validate(
    route.params ?? NOTHING,
    readPath(request.params as Record<string, string>, route.params ?? NOTHING),
  );
  const idempotencyKey = route.idempotent === true ? readIdempotencyKey(request.get(IDEMPOTENCY_HEADER)) : undefined;
  const expectedRevision = route.precondition === true ? readExpectedRevision(request.get(IF_VERSION_HEADER)) : 0;
  const query = validateQuery(route.query ?? NOTHING, readQuery(searchOf(request), route.query ?? NOTHING));
  const body =
    route.method === 'get'
      ? { bytes: Buffer.alloc(0), value: {} }
      : await readJsonBody(request, route.body === undefined || route.bodyOptional === true);
  return route.handle({
    params,
    query,
    body: validate(route.body ?? NOTHING, body.value, route.bodyFault),
    bytes: body.bytes,
    principal,
    requestId,
    routeId: route.id,
    expectedRevision,
    idempotencyKey,
    log: log.child({ request_id: requestId }),
  });
}

function sendReply(response: Response, route: Route, reply: Reply): void {
  if (reply.revision !== undefined) response.setHeader(VERSION_HEADER, reply.revision);
  response.setHeaders(new Map(Object.entries(reply.headers ?? {})));
  const status = reply.status ?? route.reply.status;
  if (reply.text !== undefined) sendText(response, status, reply.text);
  else if (reply.body !== undefined) sendJson(response, status, reply.body);
  else response.status(status).end();
}

/** Fails a test whose route answers something else than it declares. */
function checkReply(route: Route, reply: Reply): void {
  if (reply.text !== undefined || reply.status !== undefined) return;
  if (route.reply.body === undefined ? reply.body !== undefined : !route.reply.body.safeParse(reply.body).success) {
    const detail = route.reply.body?.safeParse(reply.body).error?.message;
    throw new Error(`${route.id} answers something else than it declares: ${detail ?? 'a body'}`);
  }
  if ((route.reply.versioned === true) !== (reply.revision !== undefined)) {
    throw new Error(`${route.id} does not keep its word about the revision header`);
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

export function sendError(response: ServerResponse, error: DomainError, requestId: string): void {
  response.setHeaders(new Map(Object.entries(error.headers)));
  sendJson(response, error.status, errorBody(error, requestId));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** By the server, when a statement outlives its time. */
const STATEMENT_CANCELLED = '57014';

/** Maps whatever a handler threw; a fault of ours is logged here, once, and told without detail. */
export function toDomainError(error: unknown, request: IncomingMessage, log: Logger): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof URIError) return new DomainError('invalid_request', 'The path is not validly percent-encoded');
  const context = { err: error, request_id: requestIdOf(request), method: request.method, path: pathOf(request) };
  if (isDatabaseUnavailable(error)) {
    log.error(context, 'the database cannot be reached');
    return unavailable('The service cannot reach its database');
  }
  if ((error as { code?: unknown }).code === STATEMENT_CANCELLED) {
    log.error(context, 'a statement took too long');
    return unavailable('The answer took too long to find');
  }
  log.error(context, 'a request failed');
  return new DomainError('internal', 'The server failed to answer; the request ID leads to the cause');
}

export const REQUEST_ID_HEADER = 'X-Request-ID';

/** The request ID that came along, or a new one; the same for every call on one request. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  return (request.headers['x-request-id'] = randomUUID());
}

function searchOf(request: Request): string {
  const cut = request.url.indexOf('?');
  return cut === -1 ? '' : request.url.slice(cut + 1);
}

const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0];

const expressPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** `/incidents/archived` before `/incidents/{id}`. */
const literalFirst = (a: Route, b: Route) => {
  const key = ({ path }: Route) => path.replaceAll(/\{\w+\}/g, '\u{10FFFF}');
  return key(a) < key(b) ? -1 : 1;
};
