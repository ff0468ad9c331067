import { type Logger, RequestWork, runForRequest } from '@tocsin/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { checkAccess } from './access.ts';
import { readJsonBody } from './body.ts';
import type { InternalRoute, Reply, Route } from './contract.ts';
import { deprecationHeaders } from './deprecation.ts';
import { DomainError } from './errors.ts';
import { readPath, readQuery } from './parameters.ts';
import { checkError } from './operation-errors.ts';
import { IDEMPOTENCY_HEADER, IF_VERSION_HEADER, readExpectedRevision, readIdempotencyKey } from './preconditions.ts';
import { type Principal, PRINCIPAL_HEADER, type PrincipalVerifier } from './principal.ts';
import { checkReply, sendJson, sendReply } from './replies.ts';
import { requestIdOf } from './request-id.ts';
import type { UnsentBytes } from './unsent-bytes.ts';
import { validate, validateQuery } from './validate.ts';

const NOTHING = z.strictObject({});

/** Handles requests of users, whom the gateway has authenticated. */
export function routeHandler(
  route: Route,
  options: { principals: PrincipalVerifier; log: Logger; checkReplies: boolean; unsentBytes: UnsentBytes },
): RequestHandler {
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
    const work = requestWork(response, { holder: principal.workspace.id, readOnly: route.method === 'get' });
    const reply = await runForRequest(work, async () =>
      handle(route, { request, principal, log: options.log }).catch((error: unknown) => {
        if (options.checkReplies) checkError(route, error);
        throw error;
      }),
    );
    if (options.checkReplies) checkReply(route, reply);
    sendReply(response, { route, reply, workspaceId: principal.workspace.id, unsent: options.unsentBytes });
  };
}

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
  { request, principal, log }: { request: Request; principal: Principal; log: Logger },
): Promise<Reply> {
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

/** The query string without its question mark. */
function searchOf({ url }: Request): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
