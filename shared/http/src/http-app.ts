import type { RequestListener } from 'node:http';
import {
  type BuildInfo,
  Gauge,
  type Logger,
  type Metrics,
  readiness,
  type ReadinessCheck,
  runInContext,
} from '@tocsin/runtime';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { MAX_BODY_BYTES } from './body.ts';
import type { InternalRoute, Route } from './contract.ts';
import { DESCRIPTION_PATH, descriptionRoute } from './description-route.ts';
import { drainOf } from './drain.ts';
import { notFound } from './errors.ts';
import { HEARTBEAT } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import { IDEMPOTENCY_HOURS } from './idempotency-keys.ts';
import type { PrincipalVerifier } from './principal.ts';
import { refusalsOf } from './refusals.ts';
import { sendDraining, sendError, sendHealth, sendJson } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import { traceForwarded } from './request-span.ts';
import { type HttpLimits, internalRouteHandler, routeHandler } from './route-handler.ts';
import { routeTable } from './route-table.ts';
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
  /** Default: those of the contract. */
  limits?: HttpLimits;
}

const CONTRACT_LIMITS: HttpLimits = { bodyBytes: MAX_BODY_BYTES, idempotencyHours: IDEMPOTENCY_HOURS };

/**
 * The HTTP API of a service: routes for users, internal routes for other services, the description, health and metrics.
 * The routes for users have a table of their own, because Express tries its routes one after the other.
 */
export function httpApp(options: HttpAppOptions): RequestListener {
  const { routes, principals, log, metrics, checkReplies = false, unsentBytes = processUnsentBytes } = options;
  const { streamTimes = { heartbeat: HEARTBEAT, lifetime: STREAM_LIFETIME }, limits = CONTRACT_LIMITS } = options;
  const { waitingPlaces: places = waitingPlaces() } = options;
  const refusals = refusalsOf(metrics, log);
  if (routes.some(({ wait }) => wait !== undefined)) observeWaiting(metrics, places);
  const handling = { principals, log, checkReplies, unsentBytes, streamTimes, waitingPlaces: places, limits };
  const onError = (
    { request, response, workspace }: Pick<Exchange, 'request' | 'response' | 'workspace'>,
    error: unknown,
  ) => {
    const domainError = toDomainError(error, request, log);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    refusals.count(domainError, workspace);
    sendError(response, domainError, requestIdOf(request));
  };
  return routeTable(routes, {
    handlerOf: (route) => routeHandler(route, handling),
    onError,
    otherwise: expressApp(options, onError),
    metrics,
  });
}

/** Everything but the routes for users. */
function expressApp(
  options: HttpAppOptions,
  onError: (exchange: Pick<Exchange, 'request' | 'response' | 'workspace'>, error: unknown) => void,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The routes parse the query string themselves.
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  addOperationalRoutes(app, options);
  for (const route of options.internalRoutes ?? []) {
    app[route.method](route.path, traced(route.path), internalRouteHandler(route, options.principals));
  }
  app.use(() => {
    throw notFound('The path');
  });
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    onError({ request, response, workspace: undefined }, error);
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
  app.get('/readyz', async (request, response) => {
    if (drainOf(request).hasBegun) {
      sendDraining(response);
      return;
    }
    const { ready, dependencies } = await readiness(readinessChecks);
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unready', dependencies });
  });
  app.get('/metrics', async (_request, response) => {
    response.setHeader('Content-Type', metrics.contentType);
    response.end(await metrics.metrics());
  });
}

/** Handles the requests of one internal route in their traces. */
const traced =
  (route: string): RequestHandler =>
  (request, response, next) =>
    runInContext(traceForwarded(request, response, route), next);

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
