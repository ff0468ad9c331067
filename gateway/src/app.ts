import { QUEUES } from '@tocsin/schemas';
import { CURSOR_PURPOSE, refusalsOf, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { isDatabaseStuck } from '@tocsin/postgres';
import type { Resolve } from '@tocsin/safe-http';
import {
  type App,
  type Clock,
  type Keyring,
  type Logger,
  openKeyring,
  systemClock,
  workspaceUrl,
  type DueWork,
  dueWork,
} from '@tocsin/runtime';
import { openBase, runService, type ServiceOverrides } from '@tocsin/service-host';
import { oidcClient } from './sign-in/clients/oidc-client.ts';
import { openRequestCounter, type RequestCounterClient } from './limits/clients/request-counter.ts';
import { servicesClient } from './upstreams/clients/services-client.ts';
import { openUpstreams } from './upstreams/clients/upstreams.ts';
import type { RequestCounter } from './limits/clients/window-counter.ts';
import type { GatewayConfig } from './config.ts';
import { trustedProxies } from './limits/domain/client-address.ts';
import { OWN_SERVICE, routeTable } from './routes/domain/route-table.ts';
import { sessionCookie } from './identity/domain/session.ts';
import { accessLog } from './requests/http/access-log.ts';
import type { ApiDescription } from './routes/http/api-description.ts';
import { readBundledApi } from './routes/http/bundled-api.ts';
import { internalRoutes } from './accounts/http/internal-routes.ts';
import { consolePages } from './pages/http/console-pages.ts';
import { connectionLimits } from './limits/http/connection-limits.ts';
import { forwarder } from './edge/http/forwarder.ts';
import { anonymousBodies } from './edge/http/token-in-body.ts';
import { type IdentityAges, identities as identityLookup, principalSigners } from './identity/http/identities.ts';
import { publicHandler } from './edge/http/public-handler.ts';
import { type ApiServers, publicOpenApi } from './routes/http/public-openapi.ts';
import { publicPages } from './pages/http/public-pages.ts';
import { rateLimits } from './limits/http/rate-limits.ts';
import { docsAssets } from './pages/http/docs-assets.ts';
import { guidePages } from './pages/http/guides/pages.ts';
import { referencePage } from './pages/http/reference/page.ts';
import { routes } from './http/routes.ts';
import { API_TOKEN_PURPOSE, sealedTokens } from './accounts/http/sealed-tokens.ts';
import { scimOperations } from './scim/http/operations.ts';
import { scimProtocol } from './scim/http/protocol.ts';
import { oauth } from './oauth/http/oauth.ts';
import { deleteExpiredOAuth } from './oauth/store/oauth-store.ts';
import { signIn } from './sign-in/http/sign-in.ts';
import { staticContent } from './pages/http/static-content.ts';
import { usageMeter } from './limits/http/usage-meter.ts';
import { writtenBytes } from './limits/http/written-bytes.ts';
import { keyWatch } from './edge/http/key-watch.ts';
import { waitingRequests } from './edge/http/waiting-requests.ts';
import { auditEventHandlers } from './audit/messaging/audit-events.ts';
import { schema } from './schema.ts';
import { openIdentityNotices } from './identity/clients/identity-notices.ts';
import { watchIdentityChanges } from './identity/store/identity-changes.ts';
import { identityStore } from './identity/store/identity-store.ts';
import { keyUses } from './accounts/key-uses.ts';
import { oidcKeyring, secretRotation } from './sign-in/oidc-secrets.ts';
import { signInByToken } from './sign-in/login-links.ts';
import { eraseUsers } from './erasure/erase-step.ts';
import { personalData } from './erasure/personal-data.ts';
import { oidcSignIn } from './sign-in/sign-in-by-oidc.ts';

export { memoryRequestCounter } from './limits/clients/request-counter.ts';

/** Replacements for parts of the gateway, for the embedded app and for tests. */
export interface Overrides extends ServiceOverrides {
  /** Counts requests instead of Redis. */
  requestCounter: RequestCounter;
  /** The services' API descriptions that the gateway was released with, by service, instead of their generated files. */
  descriptions: Readonly<Record<string, ApiDescription>>;
  /** How old cached identities may be. */
  identityAges: IdentityAges;
  /** How the providers of workspaces are reached: instead of the system's name servers and certificates. */
  resolve: Resolve;
  ca: string;
  /** Milliseconds between two looks for users to erase. */
  erasing: number;
  /** Of one request to them; milliseconds. */
  providerTimeout: number;
}

export interface GatewayApp extends App {
  /** The server for our own services, with metrics and readiness in detail. */
  readonly internalUrl: string;
}

type Base = ReturnType<typeof openBase>;

/** Milliseconds for a step through personal data, which compares texts: less than its request may take. */
const PERSONAL_DATA = 8_000;
/** Milliseconds between two looks for users to erase. */
const ERASING = 2_000;

/** Builds the gateway, and starts its public and its internal server. */
export async function startApp(config: GatewayConfig, overrides: Partial<Overrides> = {}): Promise<GatewayApp> {
  const { services, servers, table, description, docs } = await servedApi(config, overrides.descriptions);
  // Before openBase, since it throws for malformed keys: nothing has to be closed then.
  const { signers, cursors, oidcKeys, tokens } = openKeys(config.secretKeys, services);

  const base = openBase({ name: 'gateway', schema, config, overrides });
  const { database, log, metrics } = base;
  const { requests, meter, written, limits } = openUsage(config, log, overrides.requestCounter);
  const upstreams = openUpstreams({ urls: config.upstreams, log, metrics });
  const calls = { upstreams: upstreams.byService, secretKeys: config.secretKeys, log };
  const asked = servicesClient(calls);
  const data = personalData({ database, services: servicesClient({ ...calls, timeout: PERSONAL_DATA }) });
  const clock = overrides.clock ?? systemClock;
  const erasures = dueWork(eraseUsers({ database, data, clock, log, onWait: () => erasures.due() }));
  const relay = startRelay(base);
  const store = identityStore(database);
  const identities = identityLookup(store, signers, overrides.identityAges);
  const waiting = waitingRequests({ shares: config.shares, metrics });
  const keys = keyWatch({ identities, clock, log });
  const uses = keyUses({ database, clock, log });
  const onChange = () => {
    identities.clear();
    keys.recheck();
    relay.wake();
    erasures.due();
  };
  const changes = openIdentityChanges(config, { log, findVersion: store.findVersion, onChange });
  const dependencies = { database, clock, identitiesChanged: changes.announce };

  const proxies = trustedProxies(config.trustedProxies);
  const connections = connectionLimits({ ...config.connections, trustedProxies: proxies, metrics });
  const isSecure = servers[0].startsWith('https:');
  const originOf = (slug: string) => workspaceUrl(servers.at(-1) ?? '', slug);
  const cookie = sessionCookie(isSecure);
  const handler = () =>
    publicHandler({
      ...{ hosts: config, trustedProxies: proxies, identities, uses, cookie },
      scheme: isSecure ? 'https' : 'http',
      signIn: signIn({
        ...{ isSecure, cookie, keyring: oidcKeys, clock },
        signInByToken: async (input) => signInByToken(database, input, clock.now()),
        oidc: oidcSignIn({ database, keyring: oidcKeys, clock, log, client: providerClient(config, overrides) }),
        onSession: changes.announce,
      }),
      oauth: oauth({ database, clock, onChange: changes.announce }),
      limits,
      maxBodyBytes: config.shares.maxBodyBytes,
      routes: table,
      services: asked,
      forwarder: forwarder({ upstreams: upstreams.byService, shares: config.shares, waiting, keys, meter, written }),
      anonymousBodies: anonymousBodies({ times: config.shares.body }),
      pages: pages(base, requests, { description, docs }),
      logAccess: accessLog(log, metrics),
      onRequest: connections.onRequest,
      refusals: refusalsOf(metrics, log),
      clock,
      log,
    });

  const { url, serverUrls, stop } = await runService(base, {
    routes: routes({
      ...{ dependencies, services: asked, uses, cursors, tokens, data },
      idempotencyHours: base.limits.idempotencyHours,
    }),
    protocols: [scimProtocol({ dependencies, principals: base.principals, originOf })],
    internalRoutes: internalRoutes(dependencies),
    address: config.internal,
    servers: (ownUrl) => {
      // Its own operations are reached as those of a service are, through the checks of the public server (ADR 50).
      upstreams.open(OWN_SERVICE, [reachable(ownUrl)]);
      return { public: { handler: handler(), address: config.http, onConnection: connections.onConnection } };
    },
    consumers: [{ queue: QUEUES.gatewayAudit, handlers: auditEventHandlers }],
    periodicTasks: periodicTasks(base, { clock, keyring: oidcKeys, erasures, erasing: overrides.erasing ?? ERASING }),
    workers: [changes.watch, keys, meter, relay, uses],
    clients: [upstreams, requests, ...changes.clients],
  });
  return { url: serverUrls.public, internalUrl: url, stop };
}

/** The API of all services: its operations, and the documents that describe it. */
async function servedApi(config: GatewayConfig, descriptions: Overrides['descriptions'] | undefined) {
  const services = [OWN_SERVICE, ...Object.keys(config.upstreams)];
  const bundled = await readBundledApi(services, descriptions);
  const table = routeTable([...bundled.operations, ...scimOperations]);
  const servers = apiServers(config);
  const document = Buffer.from(
    JSON.stringify(publicOpenApi(bundled.descriptions, { servers, guides: bundled.guides })),
  );
  const description = staticContent(() => document, {
    type: 'application/json; charset=utf-8',
    caching: 'revalidated',
  });
  const assets = docsAssets();
  const docs = { reference: referencePage(assets), guides: guidePages(assets), assets: assets.assets };
  return { services, servers, table, description, docs };
}

/** @throws Error for malformed keys */
const openKeys = (secretKeys: string, services: readonly string[]) => ({
  signers: principalSigners(secretKeys, services),
  cursors: signedCursors(openKeyring(secretKeys, CURSOR_PURPOSE)),
  oidcKeys: oidcKeyring(secretKeys),
  tokens: sealedTokens(openKeyring(secretKeys, API_TOKEN_PURPOSE)),
});

/** What counts the use of workspaces, and what refuses more. */
function openUsage(config: GatewayConfig, log: Logger, override: RequestCounter | undefined) {
  const requests = openRequestCounter({ config, log, override });
  const { counter } = requests;
  const meter = usageMeter({ counter, log });
  const written = writtenBytes({ counter, limit: config.limits.writtenBytes, log });
  return { requests, meter, written, limits: rateLimits({ counter, meter, written }, config.limits) };
}

/** Learns of changed identities, and tells the other gateways of those that this one has made. */
function openIdentityChanges(
  config: GatewayConfig,
  options: { log: Logger; findVersion: () => Promise<number>; onChange: () => void },
) {
  const { database } = config;
  const notices = database.sharesSessions && openIdentityNotices({ ...config, ...options });
  return {
    watch: watchIdentityChanges({ database, ...options }),
    announce: () => {
      options.onChange();
      if (notices !== false) notices.send();
    },
    clients: notices === false ? [] : [notices],
  };
}

/** What is sent without a token. */
function pages(
  base: Base,
  requests: RequestCounterClient,
  api: Pick<Awaited<ReturnType<typeof servedApi>>, 'description' | 'docs'>,
) {
  return publicPages({
    readinessChecks: [...base.readinessChecks, ...(requests.readinessCheck ? [requests.readinessCheck] : [])],
    isStuck: () => isDatabaseStuck(base.database),
    version: base.build.version,
    sendDescription: api.description.send,
    ...api.docs,
    console: consolePages(),
  });
}

/** Asks the OpenID Connect providers of workspaces. */
const providerClient = ({ egress }: GatewayConfig, { resolve, ca, providerTimeout }: Partial<Overrides>) =>
  oidcClient({ egress, resolve, ca, timeout: providerTimeout });

function periodicTasks(
  { database, limits, log, metrics }: Base,
  { clock, keyring, erasures, erasing }: { clock: Clock; keyring: Keyring; erasures: DueWork; erasing: number },
) {
  return [
    { name: 'erasing users', interval: erasing, work: erasures.run },
    {
      name: 'deleting expired idempotency keys',
      work: async () => sweepIdempotencyKeys(database, limits.idempotencyHours),
    },
    { name: 'deleting expired OAuth clients and tokens', work: async () => deleteExpiredOAuth(database, clock.now()) },
    { name: 'rotating encryption keys', work: secretRotation({ database, keyring, log, metrics }) },
  ];
}

/** A URL by which a server can be reached that listens on all addresses. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** The server URLs of the API description, the one to use first; the workspace is a variable. */
function apiServers({ publicUrl, baseDomain, defaultWorkspace, http }: GatewayConfig): ApiServers {
  if (publicUrl !== undefined) return [publicUrl];
  const isLocal = baseDomain === 'localhost' || baseDomain.endsWith('.localhost');
  if (!isLocal) return [`https://{workspace}.${baseDomain}`];
  const workspaceUrl = `http://{workspace}.${baseDomain}:${http.port}`;
  // Node.js, Python and most generated clients do not resolve names below localhost.
  return defaultWorkspace === undefined ? [workspaceUrl] : [`http://localhost:${http.port}`, workspaceUrl];
}
