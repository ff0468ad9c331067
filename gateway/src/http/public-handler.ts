import type { IncomingMessage, RequestListener } from 'node:http';
import { checkContentLength, deprecationHeaders, DomainError, notFound, sendError, toDomainError } from '@tocsin/http';
import type { Clock, Logger } from '@tocsin/runtime';
import { forwardedHeaders } from '../clients/forwarded-headers.ts';
import type { Upstream } from '../clients/upstream.ts';
import { checkAccess } from '../domain/access.ts';
import { clientAddress, clientNetwork, type TrustedProxies } from '../domain/client-address.ts';
import { slugOf } from '../domain/host.ts';
import { type Operation, parametersIn, type RouteTable } from '../domain/route-table.ts';
import { checkFraming } from './framing.ts';
import type { Caller, Identities } from './identities.ts';
import type { PublicPage } from './public-pages.ts';
import type { RateLimits } from './rate-limits.ts';
import { openRequestContext, type RequestContext } from './request-context.ts';

export interface PublicHandlerDependencies {
  baseDomain: string;
  trustedProxies: TrustedProxies;
  identities: Identities;
  limits: RateLimits;
  routes: RouteTable;
  /** By the names of the services in the route table. */
  upstreams: ReadonlyMap<string, Upstream>;
  /** Pages that need neither workspace nor token, by path. */
  pages: ReadonlyMap<string, PublicPage>;
  logAccess: (context: RequestContext) => void;
  clock: Clock;
  log: Logger;
}

/** Handles the requests of the public server. The order of the checks is part of the API (contract: Requests). */
export function publicHandler(dependencies: PublicHandlerDependencies): RequestListener {
  return (request, response) => {
    const context = openRequestContext(request, response);
    dependencies.logAccess(context);
    handleRequest(context, dependencies).catch((error: unknown) => sendFailure(context, error, dependencies.log));
  };
}

async function handleRequest(context: RequestContext, dependencies: PublicHandlerDependencies): Promise<void> {
  const { request, response, requestId, target } = context;
  checkFraming(request);
  const page = dependencies.pages.get(target.path);
  if (page !== undefined) return servePage(page, context, dependencies);

  const slug = slugOf(requestedHost(context, dependencies.trustedProxies), dependencies.baseDomain);
  const { identity, principalFor } =
    (await findCaller(context, slug, dependencies)) ?? (await refuseAnonymous(context, slug, dependencies));
  context.workspace = slug;
  checkContentLength(request);
  context.keyId = identity.keyId;
  await dependencies.limits.workspace(response, identity.workspace.id, identity.rateLimit);
  const operation = findOperation(context, dependencies.routes);
  checkAccess(identity, operation);

  const upstream = dependencies.upstreams.get(operation.service);
  if (upstream === undefined) throw new Error(`there is no address of the ${operation.service} service`);
  if (response.destroyed) return;
  request.headers = forwardedHeaders(request.headers, { principal: principalFor(operation.service), requestId });
  request.url = target.path + target.search;
  await upstream.forward(request, response);
}

/**
 * The host that the client named: X-Forwarded-Host of a trusted proxy, else an absolute target, else the Host header.
 */
function requestedHost({ request, target }: RequestContext, trustedProxies: TrustedProxies): string {
  const isTrusted = trustedProxies.any && trustedProxies.has(peerAddress(request));
  const forwarded = isTrusted ? lastListItem(request.headers['x-forwarded-host']) : undefined;
  return forwarded ?? target.host ?? request.headers.host ?? '';
}

/** The item that the nearest proxy added. */
function lastListItem(header: string | string[] | undefined): string | undefined {
  const last = String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return last === '' ? undefined : last;
}

const peerAddress = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';

/** Returns the caller if the request has a valid token of the workspace that the host names. */
async function findCaller(
  { request }: RequestContext,
  slug: string | undefined,
  { identities, clock }: PublicHandlerDependencies,
): Promise<Caller | undefined> {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (slug === undefined || token === undefined) return undefined;
  const caller = await identities.findByToken(token);
  return caller?.identity.workspace.slug === slug && !isExpired(caller, clock) ? caller : undefined;
}

/**
 * Refuses a request without a valid token. The request is counted first: when its address has no requests left, the
 * response is the same whether the workspace exists or not, and nothing is looked up.
 */
async function refuseAnonymous(
  context: RequestContext,
  slug: string | undefined,
  { limits, identities, trustedProxies }: PublicHandlerDependencies,
): Promise<never> {
  await limits.anonymous(context.response, clientNetworkOf(context.request, trustedProxies));
  const exists = slug !== undefined && (await identities.findWorkspaceId(slug)) !== undefined;
  if (!exists) throw notFound('The workspace');
  context.workspace = slug;
  checkContentLength(context.request);
  throw new DomainError('authentication_required', 'Send a valid API token of this workspace', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

const isExpired = ({ identity: { expiresAt } }: Caller, clock: Clock) => expiresAt !== null && expiresAt <= clock.now();

function clientNetworkOf(request: IncomingMessage, trustedProxies: TrustedProxies): string {
  const forwardedFor = request.headers['x-forwarded-for'];
  return clientNetwork(clientAddress(peerAddress(request), forwardedFor?.toString(), trustedProxies));
}

function findOperation(context: RequestContext, routes: RouteTable): Operation {
  const { target, method } = context;
  if (!target.wellFormed) throw new DomainError('invalid_request', 'The path and the query must be percent-encoded');
  const resource = routes.find(target.path);
  if (resource === undefined) throw notFound('The path');
  const operation = resource.operation(method);
  if (operation === undefined) throw methodNotAllowed(method, resource.allow);
  context.operation = operation;
  return operation;
}

const methodNotAllowed = (method: string, allow: readonly string[]) =>
  new DomainError('method_not_allowed', `The path does not allow ${method}`, { headers: { Allow: allow.join(', ') } });

async function servePage(
  page: PublicPage,
  { request, response, method }: RequestContext,
  { limits, trustedProxies }: PublicHandlerDependencies,
): Promise<void> {
  if (page.limited) await limits.documents(response, clientNetworkOf(request, trustedProxies));
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method, ['GET', 'HEAD']);
  await page.send(request, response);
}

function sendFailure(context: RequestContext, error: unknown, log: Logger): void {
  const { request, response, requestId } = context;
  if (response.destroyed) return;
  const domainError = toDomainError(error, request, log);
  if (response.headersSent) response.destroy();
  else {
    setDeprecationHeaders(context);
    sendError(response, domainError, requestId);
  }
}

/** The service sets the same headers on its own responses. */
function setDeprecationHeaders({ response, target, operation }: RequestContext): void {
  if (operation?.deprecation === undefined) return;
  const headers = deprecationHeaders(operation.deprecation, parametersIn(target.path, operation));
  response.setHeaders(new Map(Object.entries(headers)));
}
