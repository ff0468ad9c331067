import { httpApp, type HttpServer, listen, PRINCIPAL_PURPOSE } from '@tocsin/http';
import { AmqpBroker, type Broker, startRelay } from '@tocsin/messaging';
import {
  type App,
  type Clock,
  Counter,
  createLogger,
  createMetrics,
  databaseDependency,
  type Dependency,
  Gauge,
  type Logger,
  type Metrics,
  openDatabase,
  openKeyring,
  openRedis,
  redisDependency,
  systemClock,
} from '@tocsin/runtime';
import { redisWindows, type RequestWindows } from './clients/request-windows.ts';
import { type Upstream, upstream } from './clients/upstream.ts';
import type { GatewayConfig } from './config.ts';
import { trustedProxies } from './domain/client-address.ts';
import { routeTable } from './domain/route-table.ts';
import { accessLog } from './http/access-log.ts';
import type { ApiDescription } from './http/api-description.ts';
import { docsPage } from './http/docs/page.ts';
import { gateway } from './http/gateway.ts';
import { identities } from './http/identities.ts';
import { openPages } from './http/open-pages.ts';
import { publicOpenApi } from './http/public-openapi.ts';
import { rateLimits } from './http/rate-limits.ts';
import { operationsOf, readDescriptions } from './http/service-descriptions.ts';
import { userChangesRoute } from './http/user-changes.ts';
import { schema } from './schema.ts';
import { listenForChanges } from './store/change-notice.ts';
import { identityStore } from './store/identity-store.ts';

export { memoryWindows } from './clients/request-windows.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts {
  log: Logger;
  clock: Clock;
  broker: Broker;
  /** Counts requests; without one, Redis does. */
  limiter: RequestWindows;
  /** The services' API descriptions, instead of their generated files. */
  descriptions: readonly ApiDescription[];
}

export interface GatewayApp extends App {
  /** Where our own services and the metrics are served. */
  readonly internalUrl: string;
}

/** Builds the gateway, and opens both its doors. */
export async function startApp(config: GatewayConfig, parts: Partial<Parts> = {}): Promise<GatewayApp> {
  const services = Object.keys(config.upstreams);
  const descriptions = parts.descriptions ?? (await readDescriptions(services));
  const description = publicOpenApi(descriptions, publicUrl(config));
  const routes = routeTable(operationsOf(descriptions));

  const log = parts.log ?? createLogger({ app: 'gateway', level: config.logLevel });
  const metrics = createMetrics('gateway');
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: 'tocsin-gateway' });
  const dependencies: Dependency[] = [databaseDependency(database)];

  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  dependencies.push({ name: 'broker', vital: false, check: async () => broker.connected });
  const redis =
    parts.limiter === undefined ? openRedis({ url: config.redisUrl, namespace: config.namespace, log }) : undefined;
  if (redis !== undefined) dependencies.push(redisDependency(redis));
  const windows = parts.limiter ?? redisWindows(redis as NonNullable<typeof redis>, log);

  const upstreams = openUpstreams(config, { log, metrics });
  const relay = startRelay({ database, broker, log, metrics });
  const known = identities(identityStore(database), keyring);
  const listener = listenForChanges({
    url: config.database.url,
    log,
    onChange: () => {
      known.drop();
      relay.wake();
    },
  });

  const door = gateway({
    baseDomain: config.baseDomain,
    trusted: trustedProxies(config.trustedProxies),
    identities: known,
    limits: rateLimits(windows, config.limits),
    routes,
    upstreams,
    openPages: openPages({ dependencies, description, docs: docsPage(description) }),
    observe: accessLog(log, metrics),
    clock: parts.clock ?? systemClock,
    log,
  });
  const backDoor = httpApp({
    routes: [],
    internalRoutes: [userChangesRoute(database)],
    dependencies,
    keyring,
    log,
    metrics,
  });

  const release = async () => {
    await Promise.all([listener.stop(), relay.stop()]);
    for (const { stop } of upstreams.values()) stop();
    if (parts.limiter === undefined) windows.stop();
    redis?.disconnect();
    if (parts.broker === undefined) await broker.close();
    await database.destroy();
  };
  const servers: HttpServer[] = [];
  try {
    servers.push(await listen(backDoor, config.internal), await listen(door, config.http));
  } catch (error) {
    await Promise.all(servers.map(async (server) => server.close()));
    await release();
    throw error;
  }
  const [internal, open] = servers as [HttpServer, HttpServer];
  let stopped: Promise<void> | undefined;
  return {
    url: open.url,
    internalUrl: internal.url,
    stop: async () =>
      (stopped ??= open
        .close()
        .then(async () => internal.close())
        .then(release)),
  };
}

/** Where clients find the API, with the workspace left open. */
function publicUrl({ baseDomain, http }: GatewayConfig): string {
  const local = baseDomain === 'localhost' || baseDomain.endsWith('.localhost');
  return local ? `http://{workspace}.${baseDomain}:${http.port}` : `https://{workspace}.${baseDomain}`;
}

function openUpstreams(
  { upstreams, upstreamTimeout }: GatewayConfig,
  { log, metrics }: { log: Logger; metrics: Metrics },
): ReadonlyMap<string, Upstream> {
  const failures = new Counter({
    name: 'tocsin_gateway_upstream_failures_total',
    help: 'Requests that a service did not answer',
    labelNames: ['upstream'],
    registers: [metrics],
  });
  const opened = new Map(
    Object.entries(upstreams).map(([name, url]) => [
      name,
      upstream({ name, url, timeout: upstreamTimeout, log, onFailure: () => failures.inc({ upstream: name }) }),
    ]),
  );
  new Gauge({
    name: 'tocsin_gateway_upstream_available',
    help: 'Whether requests are sent to a service',
    labelNames: ['upstream'],
    registers: [metrics],
    collect() {
      for (const [name, { available }] of opened) this.set({ upstream: name }, available ? 1 : 0);
    },
  });
  return opened;
}
