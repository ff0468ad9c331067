import { type Logger, RequestWork, runForRequest } from '@tocsin/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { checkAccess } from './access.ts';
import { MAX_BODY_BYTES, readJsonBody } from './body.ts';
import type { InternalRoute, Reply, Route } from './contract.ts';
import { deprecationHeaders } from './deprecation.ts';
import { DomainError } from './errors.ts';
import { type EventStream, sendStream } from './event-stream.ts';
import { type Exchange, headerOf } from './exchange.ts';
import { readPath, readQuery } from './parameters.ts';
import { checkError } from './operation-errors.ts';
import { IDEMPOTENCY_HEADER, IF_VERSION_HEADER, readExpectedRevision, readIdempotencyKey } from './preconditions.ts';
import type { Principal } from '@tocsin/contracts';
import { PRINCIPAL_HEADER, type PrincipalVerifier } from './principal.ts';
import { checkedStream, checkReply, sendJson, sendReply } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import type { ExchangeHandler } from './route-table.ts';
import { toDomainError } from './to-domain-error.ts';
import type { UnsentBytes } from './unsent-bytes.ts';
import { validate, validateQuery } from './validate.ts';
import { openWaitingRequest, type WaitingRequest } from './waiting.ts';
import type { WaitingPlaces } from './waiting-places.ts';

const NOTHING = z.strictObject({});

/** The limits that are settings. */
export interface HttpLimits {
  bodyBytes: number;
  /** How long the outcome of an Idempotency-Key is kept. */
  idempotencyHours: number;
}

export interface RouteHandlerOptions {
  principals: PrincipalVerifier;
  log: Logger;
  checkReplies: boolean;
  unsentBytes: UnsentBytes;
  waitingPlaces: WaitingPlaces;
  limits: HttpLimits;
  /** Milliseconds. */
  streamTimes: { heartbeat: number; lifetime: { least: number; random: number } };
}

const PRINCIPAL = PRINCIPAL_HEADER.toLowerCase();
const IDEMPOTENCY = IDEMPOTENCY_HEADER.toLowerCase();
const IF_VERSION = IF_VERSION_HEADER.toLowerCase();

/** Handles requests of users, whom the gateway has authenticated. */
export function routeHandler(route: Route, options: RouteHandlerOptions): ExchangeHandler {
  return async (exchange) => {
    const { request, response } = exchange;
    const principal = options.principals.user(headerOf(request, PRINCIPAL));
    if (principal === undefined) {
      throw new DomainError('authentication_required', 'The request does not come from the gateway');
    }
    exchange.workspace = principal.workspace;
    // Before any other check: an error of a deprecated operation has the headers, too.
    if (route.deprecated !== undefined) {
      response.setHeaders(new Map(Object.entries(deprecationHeaders(route.deprecated, exchange.params))));
    }
    checkAccess(principal, route);
    const workspaceId = principal.workspace.id;
    const newWork = () => requestWork(response, { holder: workspaceId, readOnly: route.method === 'get' });
    const waiting = waitingOf(route, { exchange, workspaceId, options });
    const reply = await runForRequest(newWork(), async () =>
      handle(route, { exchange, principal, waiting, options }).catch((error: unknown) => {
        if (options.checkReplies) checkError(route, error);
        throw error;
      }),
    );
    if (options.checkReplies) checkReply(route, reply);
    if (reply.stream === undefined || waiting === undefined) {
      sendReply(response, { route, reply, workspaceId, unsent: options.unsentBytes });
      return;
    }
    const stream = options.checkReplies ? checkedStream(route, reply.stream) : reply.stream;
    await sendStream(response, inTurns(stream, newWork), {
      workspaceId,
      unsent: options.unsentBytes,
      signal: waiting.signal,
      heartbeat: options.streamTimes.heartbeat,
      onError: (error) => toDomainError(error, request, options.log),
    });
  };
}

const waitingOf = (
  route: Route,
  from: { exchange: Exchange; workspaceId: number; options: RouteHandlerOptions },
): WaitingRequest | undefined => {
  if (route.wait === undefined) return undefined;
  const { exchange, workspaceId, options } = from;
  return openWaitingRequest(exchange, {
    streams: route.stream !== undefined,
    workspaceId,
    places: options.waitingPlaces,
    lifetime: options.streamTimes.lifetime,
  });
};

/** Reads each part of a stream as a request of its own: it has the time for statements that a request has. */
const inTurns = (stream: EventStream, newWork: () => RequestWork): EventStream => ({
  next: async () => runForRequest(newWork(), async () => stream.next()),
});

/** Handles requests of our own services. */
export function internalRouteHandler(
  { method, callers, input, handle }: InternalRoute,
  principals: PrincipalVerifier,
): RequestHandler {
  return async (request, response) => {
    const caller = principals.service(headerOf(request, PRINCIPAL), callers);
    if (caller === undefined) {
      throw new DomainError('authentication_required', 'The request does not come from a service that may call this');
    }
    const parameters =
      method === 'get'
        ? validateQuery(input, readQuery(searchOf(request), input))
        : validate(input, (await readJsonBody(request, { optional: false, maxBytes: MAX_BODY_BYTES })).value);
    const { workspace_id: workspaceId } = parameters;
    // A call for a workspace uses the workspace's share, so that the calls for one do not delay those for others.
    const holder = typeof workspaceId === 'number' ? workspaceId : caller;
    const work = requestWork(response, { holder, readOnly: method === 'get' });
    sendJson(response, 200, await runForRequest(work, async () => handle(parameters)));
  };
}

/** What the waits and deadlines of a request depend on. */
const requestWork = (response: ServerResponse, options: { holder: number | string; readOnly: boolean }): RequestWork =>
  new RequestWork({ ...options, isClientGone: () => response.destroyed && !response.writableFinished });

/** Calls the route's handler after the checks, in the order of the contract: path, headers, query, body. */
async function handle(
  route: Route,
  from: { exchange: Exchange; principal: Principal; waiting: WaitingRequest | undefined; options: RouteHandlerOptions },
): Promise<Reply> {
  const { exchange, principal, waiting } = from;
  const { log, limits } = from.options;
  const { request } = exchange;
  const requestId = requestIdOf(request);
  const params = route.params === undefined ? {} : validate(route.params, readPath(exchange.params, route.params));
  const idempotencyKey = route.idempotent === true ? readIdempotencyKey(headerOf(request, IDEMPOTENCY)) : undefined;
  const expectedRevision = route.precondition === true ? readExpectedRevision(headerOf(request, IF_VERSION)) : 0;
  const search = searchOf(request);
  const query =
    route.query === undefined && search === ''
      ? {}
      : validateQuery(route.query ?? NOTHING, readQuery(search, route.query ?? NOTHING));
  const body =
    route.method === 'get'
      ? { bytes: Buffer.alloc(0), value: {} }
      : await readJsonBody(request, {
          optional: route.body === undefined || route.bodyOptional === true,
          maxBytes: limits.bodyBytes,
        });
  return route.handle({
    params,
    query,
    body: route.method === 'get' ? {} : validate(route.body ?? NOTHING, body.value, route.bodyFault),
    bytes: body.bytes,
    principal,
    requestId,
    routeId: route.id,
    expectedRevision,
    idempotencyKey,
    idempotencyHours: limits.idempotencyHours,
    // Most handlers log nothing.
    get log() {
      return log.child({ request_id: requestId });
    },
    ...(waiting !== undefined && { waiting }),
  });
}

/** The query string without its question mark. */
function searchOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
