import { type Logger, RequestWork, runForRequest } from '@tocsin/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { checkAccess } from './access.ts';
import { readJsonBody } from './body.ts';
import type { InternalRoute, Reply, Route } from './contract.ts';
import { deprecationHeaders } from './deprecation.ts';
import { DomainError } from './errors.ts';
import { type EventStream, sendStream } from './event-stream.ts';
import { readPath, readQuery } from './parameters.ts';
import { checkError } from './operation-errors.ts';
import { IDEMPOTENCY_HEADER, IF_VERSION_HEADER, readExpectedRevision, readIdempotencyKey } from './preconditions.ts';
import { type Principal, PRINCIPAL_HEADER, type PrincipalVerifier } from './principal.ts';
import { checkedStream, checkReply, sendJson, sendReply } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import { toDomainError } from './to-domain-error.ts';
import type { UnsentBytes } from './unsent-bytes.ts';
import { validate, validateQuery } from './validate.ts';
import { openWaiting, type Waiting } from './waiting.ts';
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

/** Handles requests of users, whom the gateway has authenticated. */
export function routeHandler(route: Route, options: RouteHandlerOptions): RequestHandler {
  return async (request, response) => {
    const principal = options.principals.user(request.get(PRINCIPAL_HEADER));
    if (principal === undefined) {
      throw new DomainError('authentication_required', 'The request does not come from the gateway');
    }
    // For the metric of refusals, which the error handler counts.
    response.locals['workspace'] = principal.workspace;
    // Before any other check: an error of a deprecated operation has the headers, too.
    if (route.deprecated !== undefined) {
      const headers = deprecationHeaders(route.deprecated, request.params as Record<string, string>);
      response.setHeaders(new Map(Object.entries(headers)));
    }
    checkAccess(principal, route);
    const workspaceId = principal.workspace.id;
    const newWork = () => requestWork(response, { holder: workspaceId, readOnly: route.method === 'get' });
    const waiting = waitingOf(route, { request, response, workspaceId, options });
    const reply = await runForRequest(newWork(), async () =>
      handle(route, { request, principal, waiting, options }).catch((error: unknown) => {
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
  from: { request: Request; response: Response; workspaceId: number; options: RouteHandlerOptions },
): Waiting | undefined => {
  if (route.wait === undefined) return undefined;
  const { request, response, workspaceId, options } = from;
  return openWaiting(request, response, {
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
  { callers, query, handle }: InternalRoute,
  principals: PrincipalVerifier,
): RequestHandler {
  return async (request, response) => {
    const caller = principals.service(request.get(PRINCIPAL_HEADER), callers);
    if (caller === undefined) {
      throw new DomainError('authentication_required', 'The request does not come from a service that may call this');
    }
    const parameters = validateQuery(query, readQuery(searchOf(request), query));
    const { workspace_id: workspaceId } = parameters;
    // A call for a workspace uses the workspace's share, so that the calls for one do not delay those for others.
    const holder = typeof workspaceId === 'number' ? workspaceId : caller;
    const work = requestWork(response, { holder, readOnly: true });
    sendJson(response, 200, await runForRequest(work, async () => handle(parameters)));
  };
}

/** What the waits and deadlines of a request depend on. */
const requestWork = (response: Response, options: { holder: number | string; readOnly: boolean }): RequestWork =>
  new RequestWork({ ...options, isClientGone: () => response.destroyed && !response.writableFinished });

/** Calls the route's handler after the checks, in the order of the contract: path, headers, query, body. */
async function handle(
  route: Route,
  from: { request: Request; principal: Principal; waiting: Waiting | undefined; options: RouteHandlerOptions },
): Promise<Reply> {
  const { request, principal, waiting } = from;
  const { log, limits } = from.options;
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
      : await readJsonBody(request, {
          optional: route.body === undefined || route.bodyOptional === true,
          maxBytes: limits.bodyBytes,
        });
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
    idempotencyHours: limits.idempotencyHours,
    log: log.child({ request_id: requestId }),
    ...(waiting !== undefined && { waiting }),
  });
}

/** The query string without its question mark. */
function searchOf({ url }: Request): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
