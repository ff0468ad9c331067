import { type Logger, RequestWork, type RequestWorkOptions, runDry, runForRequest } from '@tocsin/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import Negotiator from 'negotiator';
import { z } from 'zod';
import { checkAccess } from './access.ts';
import { type JsonBody, MAX_BODY_BYTES, readJsonBody, readUpload } from './body.ts';
import type { InternalRoute, Reply, Route, RouteRequest } from '../contracts/contract.ts';
import { deprecationHeaders } from '../contracts/deprecation.ts';
import { DomainError } from '../errors/errors.ts';
import { sendLines, sendStream } from '../streams/event-stream.ts';
import { type Exchange, headerOf } from '../server/exchange.ts';
import { readPath, readQuery } from './parameters.ts';
import { checkError } from '../contracts/operation-errors.ts';
import {
  IDEMPOTENCY_HEADER,
  IF_VERSION_HEADER,
  readExpectedRevision,
  readIdempotencyKey,
} from '../contracts/preconditions.ts';
import type { Principal } from '@tocsin/schemas';
import { DRY_RUN_HEADER } from '../calls/internal-client.ts';
import { PRINCIPAL_HEADER, type PrincipalVerifier } from '../calls/principal.ts';
import { checkedParts, checkReply, HTML, JSON_TYPE, MARKDOWN, sendJson, sendReply } from './replies.ts';
import { requestIdOf } from '../server/request-id.ts';
import type { ExchangeHandler } from './route-table.ts';
import { toDomainError } from './to-domain-error.ts';
import type { UnsentBytes } from '../streams/unsent-bytes.ts';
import { validate, validateQuery } from './validate.ts';
import { queryOf, validatedReply } from '../contracts/validate-only.ts';
import { openWaitingRequest, type WaitingRequest } from '../streams/waiting.ts';
import type { WaitingLeases } from '../streams/waiting-leases.ts';

const NOTHING = z.strictObject({});

/** The limits that are settings. */
export interface HttpLimits {
  bodyBytes: number;
  /** How long the outcome of an Idempotency-Key is kept. */
  idempotencyHours: number;
}

export type ViewerOf = (principal: Principal) => readonly string[] | Promise<readonly string[]>;

export interface RouteHandlerOptions {
  principals: PrincipalVerifier;
  viewerOf?: ViewerOf | undefined;
  log: Logger;
  checkReplies: boolean;
  unsentBytes: UnsentBytes;
  waitingLeases: WaitingLeases;
  limits: HttpLimits;
  /** Milliseconds. */
  streamTimes: { heartbeat: number; lifetime: { least: number; random: number } };
}

const PRINCIPAL = PRINCIPAL_HEADER.toLowerCase();
const IDEMPOTENCY = IDEMPOTENCY_HEADER.toLowerCase();
const IF_VERSION = IF_VERSION_HEADER.toLowerCase();

/** Handles requests of users, whom the gateway has authenticated. */
export function routeHandler(route: Route, options: RouteHandlerOptions): ExchangeHandler {
  const querySchema = queryOf(route);
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
    const viewer = (await options.viewerOf?.(principal)) ?? [];
    const work = { ...requestWork(response, { holder: workspaceId, readOnly: route.method === 'get' }), viewer };
    const { waitingLeases: places, streamTimes, unsentBytes: unsent, checkReplies } = options;
    const waiting =
      route.wait === undefined
        ? undefined
        : openWaitingRequest(exchange, route, { workspaceId, places, lifetime: streamTimes.lifetime });
    const received: Received = {
      ...{ exchange, principal, waiting, querySchema, work, options, bytes: Buffer.alloc(0) },
      // Also if the query is refused.
      validateOnly: asksForValidation(searchOf(request)),
    };
    const reply = await handle(route, received).catch(async (error: unknown) => {
      if (checkReplies) checkError(route, error);
      await recordRefusal(route, received, error);
      throw error;
    });
    const { lines, stream } = checkReplies ? checkedParts(route, reply) : reply;
    if (waiting === undefined || (lines ?? stream) === undefined) {
      sendReply(response, { route, reply, workspaceId, unsent });
      return;
    }
    const onError = (error: unknown) => toDomainError(error, request, options.log);
    const sending = { workspaceId, unsent, signal: waiting.signal, heartbeat: streamTimes.heartbeat, onError };
    // A stream goes on for long: what its reader may see is asked for each part.
    const workNow = async () => ({ ...work, viewer: (await options.viewerOf?.(principal)) ?? [] });
    if (lines !== undefined) await sendLines(response, inTurns(lines, workNow), sending);
    else if (stream !== undefined) await sendStream(response, inTurns(stream, workNow), sending);
  };
}

/** Reads each part of a stream as a request of its own: it has the time for statements that a request has. */
const inTurns = <Part>(stream: { next(): Promise<Part> }, workNow: () => Promise<RequestWorkOptions>) => ({
  next: async () => runForRequest(new RequestWork(await workNow()), async () => stream.next()),
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
    const run = async () => handle(parameters);
    const isDry = headerOf(request, DRY_RUN_HEADER) === 'true';
    sendJson(response, 200, await (isDry ? runDry(work, run) : runForRequest(new RequestWork(work), run)));
  };
}

/** What the waits and deadlines of a request depend on. */
const requestWork = (
  response: ServerResponse,
  options: { holder: number | string; readOnly: boolean },
): RequestWorkOptions => ({ ...options, isClientGone: () => response.destroyed && !response.writableFinished });

interface Received {
  exchange: Exchange;
  principal: Principal;
  waiting: WaitingRequest | undefined;
  querySchema: z.ZodObject | undefined;
  work: RequestWorkOptions;
  options: RouteHandlerOptions;
  /** Of the body, as far as it was read. */
  bytes: Buffer;
  validateOnly: boolean;
}

const asksForValidation = (search: string): boolean =>
  search !== '' && new URLSearchParams(search).get('validate_only') === 'true';

/** The client gets its refusal, whatever becomes of the record. */
async function recordRefusal({ onRefusal }: Route, received: Received, error: unknown): Promise<void> {
  const { principal, bytes, validateOnly, work, options } = received;
  if (onRefusal === undefined || validateOnly || !(error instanceof DomainError) || error.status >= 500) return;
  try {
    await runForRequest(new RequestWork(work), async () => onRefusal({ principal, error, bytes }));
  } catch (failure) {
    options.log.warn({ err: failure }, 'the record of a refused request was not stored');
  }
}

/** Calls the route's handler, or only validates what it would do (contract: Validating a write). */
async function handle(route: Route, received: Received): Promise<Reply> {
  const { options } = received;
  const request = await readRequest(route, received);
  const work = { ...received.work, bodyBytes: request.bytes.length };
  const run = async () => {
    const reply = await route.handle(request);
    if (options.checkReplies) checkReply(route, reply);
    return reply;
  };
  return received.validateOnly
    ? validatedReply(route, await runDry(work, run))
    : runForRequest(new RequestWork(work), run);
}

/** Checks a request in the order of the contract: path, headers, query, body. */
async function readRequest(route: Route, received: Received): Promise<RouteRequest<unknown, unknown, unknown>> {
  const { exchange, principal, waiting, querySchema, options } = received;
  const { request, params: pathParams } = exchange;
  const { log, limits } = options;
  const requestId = requestIdOf(request);
  const params = route.params === undefined ? {} : validate(route.params, readPath(pathParams, route.params));
  const idempotencyKey = route.idempotent === true ? readIdempotencyKey(headerOf(request, IDEMPOTENCY)) : undefined;
  const expectedRevision = route.precondition === true ? readExpectedRevision(headerOf(request, IF_VERSION)) : 0;
  const { validate_only: validateOnly = false, ...query } = readSearch(request, { route, querySchema });
  received.validateOnly = validateOnly === true;
  const body = await readBody(route, received);
  return {
    params,
    query,
    body: validate(route.body ?? NOTHING, body.value, route.bodyFault),
    bytes: body.bytes,
    principal,
    requestId,
    routeId: route.id,
    expectedRevision,
    // A validation neither uses a key nor returns the outcome of one.
    idempotencyKey: received.validateOnly ? undefined : idempotencyKey,
    idempotencyHours: limits.idempotencyHours,
    // Most handlers log nothing.
    get log() {
      return log.child({ request_id: requestId });
    },
    toError: (error: unknown) => toDomainError(error, request, log),
    ...(waiting !== undefined && { waiting }),
    ...wantedDocument(request, route),
  };
}

/** A body that is a file has no value. */
async function readBody(route: Route, received: Received): Promise<JsonBody> {
  if (route.method === 'get') return { bytes: Buffer.alloc(0), value: {} };
  const { exchange, principal, options } = received;
  const { request } = exchange;
  const onBytes = (bytes: Buffer) => (received.bytes = bytes);
  if (route.upload !== undefined) return { bytes: await readUpload(request, { ...route.upload, onBytes }), value: {} };
  return readJsonBody(request, {
    optional: route.body === undefined || route.bodyOptional === true,
    maxBytes: options.limits.bodyBytes,
    document: route.document,
    workspaceId: principal.workspace.id,
    onBytes,
  });
}

/** Which document the client wants instead of JSON, of those that the contract has. */
function wantedDocument(request: IncomingMessage, { markdown, html }: Route) {
  if (markdown !== true && html !== true) return {};
  const types = [JSON_TYPE, ...(markdown === true ? [MARKDOWN] : []), ...(html === true ? [HTML] : [])];
  const type = new Negotiator(request).mediaType(types);
  return { wantsMarkdown: type === MARKDOWN, wantsHtml: type === HTML };
}

function readSearch(
  request: IncomingMessage,
  { route, querySchema = NOTHING }: { route: Route; querySchema: z.ZodObject | undefined },
): Record<string, unknown> {
  const search = searchOf(request);
  if (search === '' && route.query === undefined) return {};
  return validateQuery(querySchema, readQuery(search, querySchema));
}

/** The query string without its question mark. */
function searchOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
