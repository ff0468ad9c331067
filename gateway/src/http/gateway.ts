import type { IncomingMessage, RequestListener } from 'node:http';
import { checkContentLength, deprecationHeaders, DomainError, notFound, sendError, toDomainError } from '@tocsin/http';
import type { Clock, Logger } from '@tocsin/runtime';
import { forwardedHeaders } from '../clients/forwarded-headers.ts';
import type { Upstream } from '../clients/upstream.ts';
import { checkAccess } from '../domain/access.ts';
import { clientAddress, clientNetwork, type TrustedProxies } from '../domain/client-address.ts';
import { slugOf } from '../domain/host.ts';
import { type Operation, parametersIn, type RouteTable } from '../domain/route-table.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { checkFraming } from './framing.ts';
import type { Caller, Identities } from './identities.ts';
import type { OpenPage } from './open-pages.ts';
import type { RateLimits } from './rate-limits.ts';

export interface GatewayParts {
  baseDomain: string;
  trusted: TrustedProxies;
  identities: Identities;
  limits: RateLimits;
  routes: RouteTable;
  /** By the names that the route table calls the services. */
  upstreams: ReadonlyMap<string, Upstream>;
  /** What needs neither workspace nor token, by path. */
  openPages: ReadonlyMap<string, OpenPage>;
  observe: (exchange: Exchange) => void;
  clock: Clock;
  log: Logger;
}

/** The public door. The order of the checks is part of the API (contract: Requests). */
export function gateway(parts: GatewayParts): RequestListener {
  return (request, response) => {
    const exchange = openExchange(request, response);
    parts.observe(exchange);
    serve(exchange, parts).catch((error: unknown) => refuse(exchange, error, parts.log));
  };
}

async function serve(exchange: Exchange, parts: GatewayParts): Promise<void> {
  const { request, response, requestId, target } = exchange;
  checkFraming(request);
  const page = parts.openPages.get(target.path);
  if (page !== undefined) return showPage(page, exchange, parts);

  const workspaceId = await findWorkspace(exchange, parts);
  checkContentLength(request);
  const { identity, principal } = await authenticate(exchange, workspaceId, parts);
  await parts.limits.workspace(response, workspaceId, identity.rateLimit);
  const operation = findOperation(exchange, parts.routes);
  checkAccess(identity, operation);

  const upstream = parts.upstreams.get(operation.service);
  if (upstream === undefined) throw new Error(`there is no address of the ${operation.service} service`);
  if (response.destroyed) return;
  request.headers = forwardedHeaders(request.headers, { principal, requestId });
  request.url = target.path + target.search;
  await upstream.forward(request, response);
}

async function findWorkspace(exchange: Exchange, parts: GatewayParts): Promise<number> {
  const slug = slugOf(hostOf(exchange, parts.trusted), parts.baseDomain);
  const id = slug === undefined ? undefined : await parts.identities.findWorkspaceId(slug);
  if (id === undefined) throw notFound('The workspace');
  exchange.workspace = slug;
  return id;
}

/** The host that the client named: a trusted proxy's word first, then an absolute target's, then the header's. */
function hostOf({ request, target }: Exchange, trusted: TrustedProxies): string {
  const forwarded =
    trusted.any && trusted.has(peerOf(request)) ? lastOf(request.headers['x-forwarded-host']) : undefined;
  return forwarded ?? target.host ?? request.headers.host ?? '';
}

/** Whoever is nearest to us wrote the last item. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const last = String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return last === '' ? undefined : last;
}

const peerOf = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';

async function authenticate(exchange: Exchange, workspaceId: number, parts: GatewayParts): Promise<Caller> {
  const [, token] = /^Bearer +(\S+)$/i.exec(exchange.request.headers.authorization ?? '') ?? [];
  const caller = token === undefined ? undefined : await parts.identities.findByToken(token);
  if (caller?.identity.workspace.id !== workspaceId || isExpired(caller, parts.clock)) {
    await parts.limits.anonymous(exchange.response, networkOf(exchange.request, parts.trusted));
    throw new DomainError('authentication_required', 'Send a valid API token of this workspace', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  exchange.keyId = caller.identity.keyId;
  return caller;
}

const isExpired = ({ identity: { expiresAt } }: Caller, clock: Clock) => expiresAt !== null && expiresAt <= clock.now();

function networkOf(request: IncomingMessage, trusted: TrustedProxies): string {
  const forwardedFor = request.headers['x-forwarded-for'];
  return clientNetwork(clientAddress(peerOf(request), forwardedFor?.toString(), trusted));
}

function findOperation(exchange: Exchange, routes: RouteTable): Operation {
  const { target, method } = exchange;
  if (!target.wellFormed) throw new DomainError('invalid_request', 'The path and the query must be percent-encoded');
  const resource = routes.find(target.path);
  if (resource === undefined) throw notFound('The path');
  const operation = resource.operation(method);
  if (operation === undefined) throw methodNotAllowed(method, resource.allow);
  exchange.operation = operation;
  return operation;
}

const methodNotAllowed = (method: string, allow: readonly string[]) =>
  new DomainError('method_not_allowed', `${method} is not possible here`, { headers: { Allow: allow.join(', ') } });

async function showPage(page: OpenPage, exchange: Exchange, parts: GatewayParts): Promise<void> {
  const { request, response, method } = exchange;
  if (page.limited) await parts.limits.documents(response, networkOf(request, parts.trusted));
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method, ['GET', 'HEAD']);
  await page.show(response);
}

function refuse(exchange: Exchange, error: unknown, log: Logger): void {
  const { request, response, requestId } = exchange;
  if (response.destroyed) return;
  const told = toDomainError(error, request, log);
  if (response.headersSent) response.destroy();
  else {
    sayDeprecated(exchange);
    sendError(response, told, requestId);
  }
}

/** As the service does when it answers itself. */
function sayDeprecated({ response, target, operation }: Exchange): void {
  if (operation?.deprecation === undefined) return;
  const headers = deprecationHeaders(operation.deprecation, parametersIn(target.path, operation));
  response.setHeaders(new Map(Object.entries(headers)));
}
