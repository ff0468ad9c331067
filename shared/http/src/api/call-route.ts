import { randomUUID } from 'node:crypto';
import type { Principal } from '@tocsin/schemas';
import { type Logger, RequestWork, runForRequest } from '@tocsin/runtime';
import { z } from 'zod';
import type { Route } from '../contracts/contract.ts';
import { DomainError } from '../errors/errors.ts';
import { checkAccess } from './access.ts';
import type { HttpLimits, ViewerOf } from './route-handler.ts';
import { validate } from './validate.ts';

const NOTHING = z.strictObject({});

/** A request that does not come over HTTP. */
export interface RouteCall {
  principal: Principal;
  params?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  body?: Readonly<Record<string, unknown>>;
  /** Without one, a change with a precondition is refused. */
  expectedRevision?: number;
  idempotencyKey?: string;
}

/**
 * Runs an operation of this service for a user, with the checks of a request over HTTP: access, parameters, body, and who
 * sees what. Returns the body of the response.
 * @throws DomainError as the operation does, also with a stored refusal; any other error as it came
 */
export async function callRoute(
  route: Route,
  { principal, params = {}, query = {}, body = {}, expectedRevision = 0, idempotencyKey }: RouteCall,
  { viewerOf, log, limits }: { viewerOf: ViewerOf; log: Logger; limits: HttpLimits },
): Promise<unknown> {
  checkAccess(principal, route);
  const bytes = Buffer.from(JSON.stringify(body));
  const requestId = randomUUID();
  const request = {
    params: validate(route.params ?? NOTHING, params),
    query: validate(route.query ?? NOTHING, query),
    body: validate(route.body ?? NOTHING, body, route.bodyFault),
    ...{ bytes, principal, requestId, routeId: route.id, expectedRevision, idempotencyKey },
    idempotencyHours: limits.idempotencyHours,
    log: log.child({ request_id: requestId }),
    toError: (error: unknown) =>
      error instanceof DomainError ? error : new DomainError('internal', 'An unexpected error occurred'),
  };
  const work = new RequestWork({
    holder: principal.workspace.id,
    readOnly: route.method === 'get',
    isClientGone: () => false,
    bodyBytes: bytes.length,
    viewer: await viewerOf(principal),
  });
  const {
    status = route.reply.status,
    text,
    body: answer,
  } = await runForRequest(work, async () => route.handle(request));
  const content = JSON.parse(text ?? JSON.stringify(answer ?? null)) as {
    code?: DomainError['code'];
    message?: string;
  };
  if (status >= 400) throw new DomainError(content.code ?? 'internal', content.message ?? 'The operation was refused');
  return content;
}
