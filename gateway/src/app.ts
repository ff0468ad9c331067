import { QUEUES } from '@tocsin/contracts';
import { CURSOR_PURPOSE, refusalsOf, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { isDatabaseStuck } from '@tocsin/postgres';
import type { Resolve } from '@tocsin/safe-http';
import { addMilliseconds, type App, openKeyring, systemClock } from '@tocsin/runtime';
import { openBase, runService, type ServiceOverrides } from '@tocsin/service-host';
import { oidcClient } from './clients/oidc-client.ts';
import { openRequestCounter } from './clients/request-counter.ts';
import { servicesClient } from './clients/services-client.ts';
import { openUpstreams } from './clients/upstreams.ts';
import type { RequestCounter } from './clients/window-counter.ts';
import type { GatewayConfig } from './config.ts';
import { trustedProxies } from './domain/client-address.ts';
import { OWN_SERVICE } from './domain/route-table.ts';
import { sessionCookie } from './domain/session.ts';
import { accessLog } from './http/access-log.ts';
import { apiDocument } from './http/api-document.ts';
import type { ApiDescription } from './http/api-description.ts';
import { readBakedApi } from './http/baked-api.ts';
import { configurationChangesRoutes } from './http/configuration-changes.ts';
import { consolePages } from './http/console-pages.ts';
import { connectionLimits } from './http/connection-limits.ts';
import { connectionMetrics } from './http/connection-metrics.ts';
import type { ReadTiming } from './http/description-reader.ts';
import { forwarder } from './http/forwarder.ts';
import { type IdentityAges, identities as identityLookup, principalSigners } from './http/identities.ts';
import { startLiveApi } from './http/live-api.ts';
import { publicHandler } from './http/public-handler.ts';
import { publicPages } from './http/public-pages.ts';
import { rateLimits } from './http/rate-limits.ts';
import { referencePage } from './http/reference/page.ts';
import { routes } from './http/routes.ts';
import { API_TOKEN_PURPOSE, sealedTokens } from './http/sealed-tokens.ts';
import { signIn } from './http/sign-in.ts';
import { usageMeter } from './http/usage-meter.ts';
import { userRoutes } from './http/user-changes.ts';
import { waitingRequests } from './http/waiting-requests.ts';
import { auditEventHandlers } from './messaging/audit-events.ts';
import { schema } from './schema.ts';
import { auditStore } from './store/audit-store.ts';
import { listenForIdentityChanges } from './store/identity-changes.ts';
import { identityStore } from './store/identity-store.ts';
import { keyUses } from './usecases/key-uses.ts';
import { oidcKeyring, secretRotation } from './usecases/oidc-secrets.ts';
import { signInByLink } from './usecases/sign-in-by-link.ts';
import { oidcSignIn } from './usecases/sign-in-by-oidc.ts';

export { memoryRequestCounter } from './clients/request-counter.ts';

/** Replacements for parts of the gateway, for the embedded app and for tests. */
export interface Overrides extends ServiceOverrides {
  /** Counts requests instead of Redis. */
  requestCounter: RequestCounter;
  /** The services' API descriptions that the gateway was released with, by service, instead of their generated files. */
  descriptions: Readonly<Record<string, ApiDescription>>;
  /** When the descriptions of the running services are read. */
  descriptionTiming: Partial<ReadTiming>;
  /** How old cached identities may be. */
  identityAges: IdentityAges;
  /** How the providers of workspaces are reached: instead of the system's name servers and certificates. */
  resolve: Resolve;
  ca: string;
  /** Of one request to them; milliseconds. */
  providerTimeout: number;
}

export interface GatewayApp extends App {
  /** The server for our own services, with metrics and readiness in detail. */
  readonly internalUrl: string;
}

/** How long the entries of the audit log are kept; milliseconds (contract: Audit log). */
const AUDIT_RETENTION = 400 * 24 * 3_600_000;

/** Builds the gateway, and starts its public and its internal server. */
export async function startApp(config: GatewayConfig, overrides: Partial<Overrides> = {}): Promise<GatewayApp> {
  // The gateway first: it keeps its paths.
  const services = [OWN_SERVICE, ...Object.keys(config.upstreams)];
  const baked = await readBakedApi(services, overrides.descriptions);
  const server = publicUrl(config);
  const document = await apiDocument({ ...baked, server });
  const reference = referencePage();
  // Before openBase, since it throws for malformed keys: nothing has to be closed then.
  const signers = principalSigners(config.secretKeys, services);
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const oidcKeys = oidcKeyring(config.secretKeys);
  const tokens = sealedTokens(openKeyring(config.secretKeys, API_TOKEN_PURPOSE));

  const base = openBase({ name: 'gateway', schema, config, overrides });
  const { database, log, metrics } = base;
  const requests = openRequestCounter({ config, log, override: overrides.requestCounter });
  const upstreams = openUpstreams({ urls: config.upstreams, log, metrics });
  const asked = servicesClient({ urls: config.upstreams, secretKeys: config.secretKeys, log });
  const api = startLiveApi({
    baked,
    document,
    addresses: upstreams.addresses,
    server,
    timing: overrides.descriptionTiming,
    log,
    metrics,
  });
  const relay = startRelay(base);
  const identities = identityLookup(identityStore(database), signers, overrides.identityAges);
  const clock = overrides.clock ?? systemClock;
  const waiting = waitingRequests({ identities, shares: config.shares, clock, metrics, log });
  const meter = usageMeter({ counter: requests.counter, log });
  const uses = keyUses({ database, clock, log });
  const identitiesChanged = () => {
    identities.clear();
    waiting.recheck();
    relay.wake();
  };
  const identityChanges = listenForIdentityChanges({ url: config.database.url, log, onChange: identitiesChanged });

  const proxies = trustedProxies(config.trustedProxies);
  const connections = connectionLimits({
    ...config.connections,
    trustedProxies: proxies,
    onClose: connectionMetrics(metrics),
  });
  const isSecure = server.startsWith('https:');
  const cookie = sessionCookie(isSecure);
  const handler = () =>
    publicHandler({
      hosts: config,
      trustedProxies: proxies,
      identities,
      uses,
      cookie,
      signIn: signIn({
        ...{ isSecure, cookie, keyring: oidcKeys, clock },
        signInByLink: async (input) => signInByLink(database, input, clock.now()),
        oidc: oidcSignIn({
          ...{ database, keyring: oidcKeys, clock, log },
          client: oidcClient({
            allowed: config.allowed,
            resolve: overrides.resolve,
            ca: overrides.ca,
            timeout: overrides.providerTimeout,
          }),
        }),
        onSession: identitiesChanged,
      }),
      limits: rateLimits({ counter: requests.counter, meter }, config.limits),
      maxBodyBytes: config.shares.maxBodyBytes,
      routes: api.routes,
      forwarder: forwarder({ upstreams: upstreams.byService, shares: config.shares, waiting, meter }),
      pages: publicPages({
        readinessChecks: [...base.readinessChecks, ...(requests.readinessCheck ? [requests.readinessCheck] : [])],
        isStuck: () => isDatabaseStuck(database),
        version: base.build.version,
        sendDescription: api.sendDescription,
        reference,
        console: consolePages(),
      }),
      logAccess: accessLog(log, metrics),
      onRequest: connections.onRequest,
      refusals: refusalsOf(metrics, log),
      clock,
      log,
    });

  const { url, serverUrls, stop } = await runService(base, {
    routes: routes({
      dependencies: { database, clock, identitiesChanged },
      services: asked,
      idempotencyHours: base.limits.idempotencyHours,
      uses,
      cursors,
      tokens,
    }),
    internalRoutes: [
      ...userRoutes(database),
      ...configurationChangesRoutes({ database, clock, wakeRelay: relay.wake }),
    ],
    address: config.internal,
    servers: (ownUrl) => {
      // Its own operations are reached as those of a service are, through the checks of the public server (ADR 50).
      upstreams.open(OWN_SERVICE, [reachable(ownUrl)]);
      return { public: { handler: handler(), address: config.http, onConnection: connections.onConnection } };
    },
    consumers: [{ queue: QUEUES.gatewayAudit, handlers: auditEventHandlers }],
    periodicTasks: [
      {
        name: 'deleting expired idempotency keys',
        work: async () => sweepIdempotencyKeys(database, base.limits.idempotencyHours),
      },
      {
        name: 'deleting expired entries of the audit log',
        work: async () => auditStore(database).deleteBefore(addMilliseconds(clock.now(), -AUDIT_RETENTION)),
      },
      { name: 'rotating encryption keys', work: secretRotation({ database, keyring: oidcKeys, log, metrics }) },
    ],
    workers: [identityChanges, waiting, meter, relay, api, uses],
    clients: [upstreams, asked, requests],
  });
  return { url: serverUrls.public, internalUrl: url, stop };
}

/** A URL by which a server can be reached that listens on all addresses. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** The server URL of the API description; the workspace is a variable. */
function publicUrl({ baseDomain, http }: GatewayConfig): string {
  const local = baseDomain === 'localhost' || baseDomain.endsWith('.localhost');
  return local ? `http://{workspace}.${baseDomain}:${http.port}` : `https://{workspace}.${baseDomain}`;
}
