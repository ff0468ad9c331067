/**
 * `edge` takes each request to the public server through its checks, in the order that clients rely on (contract:
 * Requests). It refuses what two parsers could read differently and what pages of other sites load, sends pages, finds
 * the workspace by the host and the caller by the token, counts the request, finds its operation, and checks scope,
 * seat and permissions. Then `forwarder.ts` reads the body into memory, waits for a lease of the workspace and one of
 * the service, and forwards the request. A request that waits for events gives both back, and takes one of the places
 * of those that wait. `key-watch.ts` ends requests under way whose key allows less than when they began (contract:
 * Authentication). Nothing is stored here: when a gateway dies, its requests break off, and clients repeat those that
 * can be repeated (contract: Errors).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  checkContentLength,
  deprecationHeaders,
  DomainError,
  notFound,
  parametersIn,
  type Refusals,
  sendError,
  toDomainError,
  traceRequest,
} from '@tocsin/http';
import { type Clock, type Logger, runInContext, workspaceUrl } from '@tocsin/runtime';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';
import { checkAccess } from '../domain/access.ts';
import { clientAddress, clientNetwork, type TrustedProxies } from '../../limits/domain/client-address.ts';
import { costOf } from '../../routes/domain/cost.ts';
import { type HostRules, shownHost, slugOf } from '../../identity/domain/host.ts';
import type { Operation, Resource, RouteTable } from '../../routes/domain/route-table.ts';
import type { Forwarder } from './forwarder.ts';
import { isForPerson, sendErrorPage } from '../../pages/http/error-page.ts';
import { checkWithService } from './check-with-service.ts';
import { checkFraming } from './framing.ts';
import { type AnonymousBodies, tokenInBody } from './token-in-body.ts';
import { receiveTrackerHook, trackerOfPath } from './tracker-hooks.ts';
import type { OAuth } from '../../oauth/http/consent.ts';
import { OAUTH_PATHS } from '../../oauth/http/oauth.ts';
import { idleSince, type SessionCookie } from '../../identity/domain/session.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import {
  checkSameOrigin,
  checkSite,
  credentials,
  type Credentials,
  SIGN_IN_PATHS,
} from '../../sign-in/http/session-requests.ts';
import { isScim } from '../../scim/http/operations.ts';
import { sendScimError } from '../../scim/http/scim-error.ts';
import type { SignIn } from '../../sign-in/http/sign-in.ts';
import type { Caller, Identities } from '../../identity/http/identities.ts';
import type { Identity } from '../../identity/store/identity-store.ts';
import type { PublicPage, PublicPages } from '../../pages/http/public-pages.ts';
import type { RateLimits } from '../../limits/http/rate-limits.ts';
import { methodNotAllowed, openRequestContext, type RequestContext } from '../../requests/http/request-context.ts';

export interface PublicHandlerDependencies {
  /** `publicUrl` is where clients reach workspaces, if that does not follow from the requested host. */
  hosts: HostRules & { publicUrl: string | undefined };
  scheme: 'http' | 'https';
  trustedProxies: TrustedProxies;
  identities: Identities;
  uses: Pick<KeyUses, 'record' | 'find'>;
  cookie: SessionCookie;
  signIn: SignIn;
  oauth: OAuth;
  limits: RateLimits;
  /** Bytes of one request body. */
  maxBodyBytes: number;
  routes: RouteTable;
  services: Pick<ServicesClient, 'methodsAt' | 'command'>;
  forwarder: Forwarder;
  anonymousBodies: AnonymousBodies;
  /** Pages that need neither workspace nor token, by path. */
  pages: PublicPages;
  logAccess: (context: RequestContext) => void;
  /** Called first, for every request. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  refusals: Refusals;
  clock: Clock;
  log: Logger;
}

/** Handles the requests of the public server. */
export function publicHandler(dependencies: PublicHandlerDependencies): RequestListener {
  return (request, response) => {
    dependencies.onRequest(request, response);
    const context = openRequestContext(request, response);
    if (!dependencies.pages.has(context.target.path)) context.trace = openTrace(context);
    dependencies.logAccess(context);
    runInContext(context.trace, () => {
      handleRequest(context, dependencies).catch((error: unknown) => sendFailure(context, error, dependencies));
    });
  };
}

/** Clients do not decide which traces are recorded (ADR 36). */
const openTrace = (context: RequestContext) =>
  traceRequest(context.request, context.response, {
    isTrusted: false,
    atEnd: () => ({
      route: context.operation?.path,
      attributes: {
        'tocsin.request_id': context.requestId,
        ...(context.workspace !== undefined && { 'tocsin.workspace': context.workspace.slug }),
      },
    }),
  });

async function handleRequest(context: RequestContext, dependencies: PublicHandlerDependencies): Promise<void> {
  const { request, response, target } = context;
  checkFraming(request);
  checkSite(request);
  const page = dependencies.pages.get(target.path);
  if (page !== undefined) return servePage(page, context, dependencies);

  const host = requestedHost(context, dependencies.trustedProxies);
  const slug = slugOf(host, dependencies.hosts);
  const isOAuth = OAUTH_PATHS.has(target.path);
  if (isOAuth || SIGN_IN_PATHS.has(target.path)) {
    await dependencies.limits.anonymous(response, clientNetworkOf(request, dependencies.trustedProxies));
    const token = dependencies.cookie.read(request.headers.cookie);
    const session: Credentials | undefined = token === undefined ? undefined : { token, kind: 'session' };
    const findSession = async () => (await findCaller(session, slug, dependencies))?.identity;
    if (isOAuth) return serveOAuth(context, { host, slug, findSession }, dependencies);
    const findUserId = async () => (await findSession())?.userId;
    return dependencies.signIn(context, { origin: originOf(host, slug, dependencies), slug, findUserId });
  }
  const trackerId = trackerOfPath(target.path);
  if (trackerId !== undefined) return serveTrackerHook(context, { slug, trackerId }, dependencies);
  const resource = dependencies.routes.find(target.path);
  const operation = resource?.operation(context.method);
  const credentialsOfRequest =
    credentials(request.headers, dependencies.cookie, { basic: operation?.basic }) ??
    (await credentialsInBody(context, operation, dependencies));
  const maxBodyBytes = operation?.bodyBytes ?? dependencies.maxBodyBytes;
  const caller =
    (await findCaller(credentialsOfRequest, slug, dependencies)) ??
    (await refuseAnonymous(context, slug, { ...dependencies, maxBodyBytes }));
  const { identity } = caller;
  context.workspace = identity.workspace;
  checkContentLength(request, maxBodyBytes);
  context.keyId = identity.keyId;
  dependencies.uses.record(identity);
  context.operation = operation;
  // Counted before a path without an operation is refused: the order of the checks.
  const cost = costOf(context.operation?.cost, target.search);
  const counted = dependencies.limits.workspace(context, {
    id: identity.workspace.id,
    limit: identity.rateLimit,
    cost,
  });
  if (counted !== undefined) await counted;
  if (identity.usedAt !== null) checkSameOrigin(request, originOf(host, slug, dependencies));
  const calledOperation = checkOperation(context, resource);
  if (calledOperation.scope === undefined)
    await checkWithService(dependencies, calledOperation, { path: target.path, tableMethods: resource?.allow ?? [] });
  checkAccess(identity, calledOperation);
  if (!response.destroyed) await dependencies.forwarder.forward(context, caller, calledOperation);
}

/**
 * The host that the client named: X-Forwarded-Host of a trusted proxy, else an absolute target, else the Host header.
 */
function requestedHost({ request, target }: RequestContext, trustedProxies: TrustedProxies): string {
  const isTrusted = trustedProxies.any && trustedProxies.has(peerAddress(request));
  const forwarded = isTrusted ? lastListItem(request.headers['x-forwarded-host']) : undefined;
  return forwarded ?? target.host ?? request.headers.host ?? '';
}

/** The origin by which browsers reach a workspace. */
function originOf(host: string, slug: string | undefined, { hosts, scheme }: PublicHandlerDependencies): string {
  return hosts.publicUrl === undefined ? `${scheme}://${host}` : workspaceUrl(hosts.publicUrl, slug ?? '');
}

/** @throws DomainError `not_found` if there is no workspace at the host */
async function serveOAuth(
  context: RequestContext,
  {
    host,
    slug,
    findSession,
  }: { host: string; slug: string | undefined; findSession: () => Promise<Identity | undefined> },
  dependencies: PublicHandlerDependencies,
): Promise<void> {
  const { identities, hosts, anonymousBodies, trustedProxies, oauth } = dependencies;
  const workspaceId = slug && (await identities.findWorkspaceId(slug));
  const origin = URL.parse(originOf(host, slug, dependencies))?.origin;
  if (typeof workspaceId !== 'number' || origin === undefined) throw unknownHost(hosts);
  context.slug = slug;
  const readBody = async () => anonymousBodies(context, clientNetworkOf(context.request, trustedProxies));
  await oauth(context, { workspaceId, origin, findSession, readBody });
}

/** Trackers have no token: each webhook is counted for its address. @throws DomainError as `receiveTrackerHook` */
async function serveTrackerHook(
  context: RequestContext,
  { slug, trackerId }: { slug: string | undefined; trackerId: number },
  { limits, identities, hosts, anonymousBodies, trustedProxies, services }: PublicHandlerDependencies,
): Promise<void> {
  const network = clientNetworkOf(context.request, trustedProxies);
  await limits.anonymous(context.response, network);
  const workspaceId = slug && (await identities.findWorkspaceId(slug));
  if (typeof workspaceId !== 'number') throw unknownHost(hosts);
  context.slug = slug;
  const readBody = async () => anonymousBodies(context, network);
  await receiveTrackerHook(context, { workspaceId, trackerId, readBody, services });
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

/** The token of an operation whose clients send it in the body. What does not arrive counts as a request without one. */
async function credentialsInBody(
  context: RequestContext,
  operation: Operation | undefined,
  { anonymousBodies, limits, trustedProxies }: PublicHandlerDependencies,
): Promise<Credentials | undefined> {
  if (operation?.tokenProperty === undefined) return undefined;
  const network = clientNetworkOf(context.request, trustedProxies);
  try {
    const token = await tokenInBody(context, operation.tokenProperty, async () => anonymousBodies(context, network));
    return token === undefined ? undefined : { token, kind: 'key' };
  } catch (error) {
    await limits.anonymous(context.response, network);
    throw error;
  }
}

/** Returns the caller if a request sends a valid token of the workspace that the host names. */
async function findCaller(
  credentialsOfRequest: Credentials | undefined,
  slug: string | undefined,
  { identities, clock, uses }: PublicHandlerDependencies,
): Promise<Caller | undefined> {
  if (slug === undefined || credentialsOfRequest === undefined) return undefined;
  const caller = await identities.findByToken(slug, credentialsOfRequest.token, credentialsOfRequest.kind);
  const isValid = caller !== undefined && !hasEnded(caller.identity, uses, clock);
  return isValid ? caller : undefined;
}

/**
 * Refuses a request without a valid token. The request is counted first: when its address has no requests left, the
 * response is the same whether the workspace exists or not, and nothing is looked up.
 */
async function refuseAnonymous(
  context: RequestContext,
  slug: string | undefined,
  { limits, identities, trustedProxies, hosts, maxBodyBytes }: PublicHandlerDependencies,
): Promise<never> {
  await limits.anonymous(context.response, clientNetworkOf(context.request, trustedProxies));
  const exists = slug !== undefined && (await identities.findWorkspaceId(slug)) !== undefined;
  if (!exists) throw unknownHost(hosts);
  context.slug = slug;
  checkContentLength(context.request, maxBodyBytes);
  throw new DomainError('authentication_required', 'Send a valid API token of this workspace', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

/** The same text for every host: it does not say which workspaces there are. */
const unknownHost = (hosts: PublicHandlerDependencies['hosts']) =>
  new DomainError(
    'not_found',
    `There is no workspace at this host. The host of a workspace is ${shownHost(hosts)}, and the API reference is at /docs ` +
      'of every host',
  );

function hasEnded({ expiresAt, usedAt, keyId }: Identity, uses: Pick<KeyUses, 'find'>, clock: Clock): boolean {
  if (expiresAt !== null && expiresAt <= clock.now()) return true;
  // A use of this process may be later than the one that was looked up.
  return usedAt !== null && usedAt <= idleSince(clock.now()) && (uses.find(keyId) ?? '') <= idleSince(clock.now());
}

function clientNetworkOf(request: IncomingMessage, trustedProxies: TrustedProxies): string {
  const forwardedFor = request.headers['x-forwarded-for'];
  return clientNetwork(clientAddress(peerAddress(request), forwardedFor?.toString(), trustedProxies));
}

function checkOperation({ target, method, operation }: RequestContext, resource: Resource | undefined): Operation {
  if (!target.wellFormed) throw new DomainError('invalid_request', 'The path and the query must be percent-encoded');
  if (resource === undefined || (operation === undefined && resource.allow.length === 0)) throw notFound('The path');
  if (operation === undefined) throw methodNotAllowed(method, resource.allow);
  return operation;
}

async function servePage(
  page: PublicPage,
  context: RequestContext,
  dependencies: PublicHandlerDependencies,
): Promise<void> {
  const { request, response, method } = context;
  if (typeof page.limited === 'function' ? page.limited(request) : page.limited) await countPage(context, dependencies);
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method, ['GET', 'HEAD']);
  await page.send(request, response);
}

/** Counts a page for the workspace of a valid token or session, otherwise for the client's network. */
async function countPage(context: RequestContext, dependencies: PublicHandlerDependencies): Promise<void> {
  const { request, response } = context;
  const { limits, trustedProxies, hosts, cookie, log } = dependencies;
  const credentialsOfRequest = credentials(request.headers, cookie);
  const slug = credentialsOfRequest && slugOf(requestedHost(context, trustedProxies), hosts);
  // Pages are shown without the database, too.
  const caller = await findCaller(credentialsOfRequest, slug, dependencies).catch((error: unknown) => {
    log.warn({ err: error }, 'cannot look up who reads a page');
    return undefined;
  });
  if (caller === undefined) return limits.documents(response, clientNetworkOf(request, trustedProxies));
  const { workspace, rateLimit } = caller.identity;
  context.workspace = workspace;
  await limits.workspace(context, { id: workspace.id, limit: rateLimit, cost: costOf() });
}

function sendFailure(
  context: RequestContext,
  error: unknown,
  { log, refusals, pages }: PublicHandlerDependencies,
): void {
  const { request, response, requestId, target } = context;
  if (response.destroyed) return;
  const domainError = toDomainError(error, request, log);
  refusals.count(domainError, context.workspace);
  const isPage = pages.has(target.path) || SIGN_IN_PATHS.has(target.path);
  if (response.headersSent) response.destroy();
  else if (isPage && isForPerson(request)) sendErrorPage(response, domainError, requestId);
  else {
    setDeprecationHeaders(context);
    if (isScim(target.path)) sendScimError(response, domainError);
    else sendError(response, domainError, requestId);
  }
}

/** The service sets the same headers on its own responses. */
function setDeprecationHeaders({ response, target, operation }: RequestContext): void {
  if (operation?.deprecation === undefined) return;
  const headers = deprecationHeaders(operation.deprecation, parametersIn(target.path, operation.path));
  response.setHeaders(new Map(Object.entries(headers)));
}
