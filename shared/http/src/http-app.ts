import {
  type BuildInfo,
  Gauge,
  Histogram,
  type Logger,
  type Metrics,
  readiness,
  type ReadinessCheck,
  runInContext,
} from '@tocsin/runtime';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { InternalRoute, Route } from './contract.ts';
import { DESCRIPTION_PATH, descriptionRoute } from './description-route.ts';
import { notFound } from './errors.ts';
import { HEARTBEAT } from './event-stream.ts';
import type { PrincipalVerifier, WorkspaceContext } from './principal.ts';
import { refusalsOf } from './refusals.ts';
import { sendError, sendHealth, sendJson } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import { traceRequest } from './request-span.ts';
import { internalRouteHandler, routeHandler } from './route-handler.ts';
import { toDomainError } from './to-domain-error.ts';
import { processUnsentBytes, type UnsentBytes } from './unsent-bytes.ts';
import { STREAM_LIFETIME } from './waiting.ts';
import { type WaitingPlaces, waitingPlaces } from './waiting-places.ts';

export interface HttpAppOptions {
  routes: readonly Route[];
  internalRoutes?: readonly InternalRoute[];
  /** The description of the API, as JSON. */
  description?: Buffer | undefined;
  readinessChecks: readonly ReadinessCheck[];
  /** Whether the process no longer works, so that it has to be restarted. */
  isStuck?: () => boolean;
  /** What `/healthz` says about the sources that run. */
  build?: BuildInfo;
  principals: PrincipalVerifier;
  log: Logger;
  metrics: Metrics;
  /** For tests: a reply that does not match its contract is an error. */
  checkReplies?: boolean;
  /** Default: one count for all APIs of this process. */
  unsentBytes?: UnsentBytes;
  /** For tests: other times than the usual ones; milliseconds. */
  streamTimes?: { heartbeat: number; lifetime: { least: number; random: number } };
  /** Default: those of this API. */
  waitingPlaces?: WaitingPlaces;
}

/**
 * The HTTP API of a service: routes for users, internal routes for other services, the description, health and metrics.
 */
export function httpApp(options: HttpAppOptions): Express {
  const { principals, log, metrics, checkReplies = false, unsentBytes = processUnsentBytes } = options;
  const { streamTimes = { heartbeat: HEARTBEAT, lifetime: STREAM_LIFETIME }, waitingPlaces: places = waitingPlaces() } =
    options;
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
  if (options.routes.some(({ wait }) => wait !== undefined)) observeWaiting(metrics, places);
  const handling = { principals, log, checkReplies, unsentBytes, streamTimes, waitingPlaces: places };
  for (const route of [...options.routes].sort(literalFirst)) {
    const handler = routeHandler(route, handling);
    app[route.method](expressPath(route.path), timed(route.id), traced(route.path), handler);
  }
  for (const route of options.internalRoutes ?? []) {
    app.get(route.path, traced(route.path), internalRouteHandler(route, principals));
  }

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

function addOperationalRoutes(app: Express, options: HttpAppOptions): void {
  const { description, readinessChecks, metrics, isStuck, build } = options;
  const sources = build && { version: build.version, commit: build.commit };
  if (description !== undefined) app.get(DESCRIPTION_PATH, descriptionRoute(description));
  app.get('/healthz', (_request, response) => {
    sendHealth(response, isStuck?.() === true, sources);
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
    const start = performance.now();
    response.once('close', () => {
      // The wait for an event says nothing about the service.
      const end = (response.locals['waitingSince'] as number | undefined) ?? performance.now();
      duration.observe({ route, status: response.statusCode }, (end - start) / 1_000);
    });
    next();
  };
}

/** Handles the requests of one route in their traces, which the gateway or another service has begun. */
const traced =
  (route: string): RequestHandler =>
  (request, response, next) => {
    const atEnd = () => ({ route, attributes: { 'tocsin.request_id': requestIdOf(request) } });
    runInContext(traceRequest(request, response, { isTrusted: true, atEnd }), next);
  };

function observeWaiting(metrics: Metrics, places: WaitingPlaces): void {
  new Gauge({
    name: 'tocsin_http_waiting_requests',
    help: 'Requests that wait for events or stream them',
    registers: [metrics],
    collect() {
      this.set(places.count);
    },
  });
}

const expressPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Sorts `/incidents/archived` before `/incidents/{id}`. */
const literalFirst = (a: Route, b: Route) => {
  const key = ({ path }: Route) => path.replaceAll(/\{\w+\}/g, '\u{10FFFF}');
  return key(a) < key(b) ? -1 : 1;
};
