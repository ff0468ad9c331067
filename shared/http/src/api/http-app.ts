/**
 * `api` is the HTTP API of a service: operations for users, internal routes, health and metrics. `route-table.ts` finds
 * the operation of a request, and `route-handler.ts` checks the principal, access again, path, headers, query and body,
 * in this order (contract: Requests). Its handler runs with the workspace's share of connections and the deadline of
 * the request. With `validate_only` it runs in a transaction that is rolled back (ADR 52). `to-domain-error.ts` makes
 * an error of the contract of whatever was thrown, and logs what nobody expects. `replies.ts` sends the response as
 * fast as the client reads it: a read is refused if too much of its workspace is unread, and a write never, because its
 * effect has happened.
 */
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
import { z } from 'zod';
import { MAX_BODY_BYTES } from './body.ts';
import type { InternalRoute, Route } from '../contracts/contract.ts';
import { drainOf } from '../server/drain.ts';
import { notFound } from '../errors/errors.ts';
import { HEARTBEAT } from '../streams/event-stream.ts';
import type { Exchange } from '../server/exchange.ts';
import { IDEMPOTENCY_HOURS } from '../idempotency/idempotency-keys.ts';
import type { PrincipalVerifier } from '../calls/principal.ts';
import { refusalsOf } from '../errors/refusals.ts';
import { sendDraining, sendError, sendHealth, sendJson } from './replies.ts';
import { requestIdOf } from '../server/request-id.ts';
import { traceForwarded } from '../server/request-span.ts';
import { type HttpLimits, internalRouteHandler, routeHandler, type ViewerOf } from './route-handler.ts';
import { routeTable, type ServiceRoutes } from './route-table.ts';
import { toDomainError } from './to-domain-error.ts';
import { processUnsentBytes, type UnsentBytes } from '../streams/unsent-bytes.ts';
import { STREAM_LIFETIME } from '../streams/waiting.ts';
import { type WaitingLeases, waitingLeases } from '../streams/waiting-leases.ts';

/** Operations below a path that a standard describes, and no contract. */
export interface Protocol {
  path: string;
  handle: RequestHandler;
  /** Sends an error in the form of the standard. */
  sendError: typeof sendError;
}

export interface HttpAppOptions {
  routes: readonly Route[];
  protocols?: readonly Protocol[];
  internalRoutes?: readonly InternalRoute[];
  readinessChecks: readonly ReadinessCheck[];
  /** Whether the process no longer works, so that it has to be restarted. */
  isStuck?: () => boolean;
  /** What `/healthz` says about the sources that run. */
  build?: BuildInfo;
  principals: PrincipalVerifier;
  log: Logger;
  metrics: Metrics;
  /** Names the caller among those who may see something (`RequestWork.viewer`). Default: without names. */
  viewerOf?: ViewerOf | undefined;
  /** For tests: a reply that does not match its contract is an error. */
  checkReplies?: boolean;
  /** Default: one count for all APIs of this process. */
  unsentBytes?: UnsentBytes;
  /** For tests: other times than the usual ones; milliseconds. */
  streamTimes?: { heartbeat: number; lifetime: { least: number; random: number } };
  /** Default: those of this API. */
  waitingLeases?: WaitingLeases;
  /** Default: those of the contract. */
  limits?: HttpLimits;
}

/** Where a service tells other services which methods a path of its API has: `?path=/api/v1/teams/1`. */
export const METHODS_PATH = '/methods';
/** None: it does not have the path. */
export const methodsSchema = z.object({ methods: z.array(z.string()) });

const CONTRACT_LIMITS: HttpLimits = { bodyBytes: MAX_BODY_BYTES, idempotencyHours: IDEMPOTENCY_HOURS };

/**
 * The HTTP API of a service: routes for users, internal routes for other services, health and metrics.
 * The routes for users have a table of their own, because Express tries its routes one after the other.
 */
export function httpApp(options: HttpAppOptions): RequestListener {
  const {
    routes,
    principals,
    log,
    metrics,
    viewerOf,
    checkReplies = false,
    unsentBytes = processUnsentBytes,
  } = options;
  const { streamTimes = { heartbeat: HEARTBEAT, lifetime: STREAM_LIFETIME }, limits = CONTRACT_LIMITS } = options;
  const { waitingLeases: places = waitingLeases() } = options;
  const refusals = refusalsOf(metrics, log);
  if (routes.some(({ wait }) => wait !== undefined)) observeWaiting(metrics, places);
  const handling = { principals, viewerOf, log, checkReplies, unsentBytes, streamTimes, waitingLeases: places, limits };
  const onError = (
    { request, response, workspace }: Pick<Exchange, 'request' | 'response' | 'workspace'>,
    error: unknown,
    send = sendError,
  ) => {
    const domainError = toDomainError(error, request, log);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    refusals.count(domainError, workspace);
    send(response, domainError, requestIdOf(request));
  };
  const { listener, methodsAt } = routeTable(routes, {
    handlerOf: (route) => routeHandler(route, handling),
    onError,
    otherwise: (request, response) => void other(request, response),
    metrics,
  });
  const other = expressApp(options, { onError, methodsAt });
  return listener;
}

/** Everything but the routes for users. */
function expressApp(
  options: HttpAppOptions,
  {
    onError,
    methodsAt,
  }: Pick<ServiceRoutes, 'methodsAt'> & {
    onError: (
      exchange: Pick<Exchange, 'request' | 'response' | 'workspace'>,
      error: unknown,
      send?: typeof sendError,
    ) => void;
  },
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The routes parse the query string themselves.
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  addOperationalRoutes(app, options);
  // For a gateway that is older than this service (ADR 84).
  app.get(METHODS_PATH, ({ url }, response) => {
    const path = new URL(url, 'http://service').searchParams.get('path') ?? '';
    sendJson(response, 200, { methods: methodsAt(path) } satisfies z.output<typeof methodsSchema>);
  });
  for (const route of options.internalRoutes ?? []) {
    app[route.method](route.path, traced(route.path), internalRouteHandler(route, options.principals));
  }
  for (const { path, handle, sendError: send } of options.protocols ?? []) {
    app.use(path, traced(path), handle);
    app.use(path, (error: unknown, request: Request, response: Response, _next: NextFunction) => {
      onError({ request, response, workspace: undefined }, error, send);
    });
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
  const { readinessChecks, metrics, isStuck, build } = options;
  const sources = build && { version: build.version, commit: build.commit };
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

function observeWaiting(metrics: Metrics, places: WaitingLeases): void {
  new Gauge({
    name: 'tocsin_http_waiting_requests',
    help: 'Requests that wait for events or stream them',
    registers: [metrics],
    collect() {
      this.set(places.held);
    },
  });
}
