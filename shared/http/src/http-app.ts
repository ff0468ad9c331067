import { type Logger, Histogram, type Metrics, readiness, type ReadinessCheck } from '@tocsin/runtime';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { InternalRoute, Route } from './contract.ts';
import { notFound } from './errors.ts';
import type { PrincipalVerifier, WorkspaceContext } from './principal.ts';
import { refusalsOf } from './refusals.ts';
import { sendError, sendHealth, sendJson } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import { internalRouteHandler, routeHandler } from './route-handler.ts';
import { toDomainError } from './to-domain-error.ts';
import { processUnsentBytes, type UnsentBytes } from './unsent-bytes.ts';

export interface HttpAppOptions {
  routes: readonly Route[];
  internalRoutes?: readonly InternalRoute[];
  readinessChecks: readonly ReadinessCheck[];
  /** Whether the process no longer works, so that it has to be restarted. */
  isStuck?: () => boolean;
  principals: PrincipalVerifier;
  log: Logger;
  metrics: Metrics;
  /** For tests: a reply that does not match its contract is an error. */
  checkReplies?: boolean;
  /** Default: one count for all APIs of this process. */
  unsentBytes?: UnsentBytes;
}

/** The HTTP API of a service: routes for users, internal routes for other services, health and metrics. */
export function httpApp(options: HttpAppOptions): Express {
  const { principals, log, metrics, checkReplies = false, unsentBytes = processUnsentBytes } = options;
  const refusals = refusalsOf(metrics, log);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The routes parse the query string themselves.
  app.set('query parser', false);
  // The gateway matches paths in the same way; it has checked the scope of the operation that it found by the path.
  app.enable('case sensitive routing');
  app.enable('strict routing');

  addOperationalRoutes(app, options);
  const timed = requestTimer(metrics);
  for (const route of [...options.routes].sort(literalFirst)) {
    const handler = routeHandler(route, { principals, log, checkReplies, unsentBytes });
    app[route.method](expressPath(route.path), timed(route.id), handler);
  }
  for (const route of options.internalRoutes ?? []) app.get(route.path, internalRouteHandler(route, principals));

  app.use(() => {
    throw notFound('The path');
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const domainError = toDomainError(error, request, log);
    refusals.count(domainError, response.locals['workspace'] as WorkspaceContext | undefined);
    sendError(response, domainError, requestIdOf(request));
  });
  return app;
}

function addOperationalRoutes(app: Express, { readinessChecks, metrics, isStuck }: HttpAppOptions): void {
  app.get('/healthz', (_request, response) => {
    sendHealth(response, isStuck?.() === true);
  });
  app.get('/readyz', async (_request, response) => {
    const { ready, dependencies } = await readiness(readinessChecks);
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unready', dependencies });
  });
  app.get('/metrics', async (_request, response) => {
    response.setHeader('Content-Type', metrics.contentType);
    response.end(await metrics.metrics());
  });
}

/** Returns a factory of handlers that measure the requests of one route. */
function requestTimer(metrics: Metrics): (route: string) => RequestHandler {
  const duration = new Histogram({
    name: 'tocsin_http_request_duration_seconds',
    help: 'Duration of requests, by route and status',
    labelNames: ['route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  return (route) => (_request, response, next) => {
    const stop = duration.startTimer({ route });
    response.once('close', () => stop({ status: response.statusCode }));
    next();
  };
}

const expressPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Sorts `/incidents/archived` before `/incidents/{id}`. */
const literalFirst = (a: Route, b: Route) => {
  const key = ({ path }: Route) => path.replaceAll(/\{\w+\}/g, '\u{10FFFF}');
  return key(a) < key(b) ? -1 : 1;
};
