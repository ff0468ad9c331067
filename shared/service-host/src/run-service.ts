import { setTimeout as delay } from 'node:timers/promises';
import { type HttpServer, listen } from '@tocsin/http';
import { httpApp } from '@tocsin/http/app';
import { startConsumer, sweepInbox } from '@tocsin/messaging';
import { isDatabaseStuck, refuseUnusableSession } from '@tocsin/postgres';
import { type App, startPeriodicTask } from '@tocsin/runtime';
import { observeDependencies, observeTasks } from './background-metrics.ts';
import type { ServiceBase } from './base.ts';
import type { PeriodicTaskSpec, ServerSpec, ServiceSpec, ServiceWorker } from './spec.ts';

/** A service that runs; `url` is the address of its own API. */
export interface RunningService<Name extends string> extends App {
  /** The URLs of the additional servers, without a trailing slash. */
  readonly serverUrls: Readonly<Record<Name, string>>;
}

/**
 * Starts a service's consumers, periodic tasks and servers. Stopping announces the end on all servers for the drain time
 * of the configuration, closes the additional ones in their order and then the service's own; meanwhile the dispatchers
 * finish. Then the background work stops (the relay publishes what the
 * outbox still holds), and broker, clients and database are closed.
 * @throws the system's error when a server cannot bind its address, UnusableSession for a database or a connection
 *   pooler that does not work as the code needs it, and Error for a Redis Cluster; everything else is closed by then
 */
export async function runService<Name extends string = never>(
  base: ServiceBase,
  spec: ServiceSpec<Name>,
): Promise<RunningService<Name>> {
  const { dispatchers = [], clients = [] } = spec;
  const background = startBackgroundWork(base, spec);

  const release = async () => {
    await stopAll(background);
    await base.closeBroker();
    for (const client of clients) await client.close();
    await base.databaseReadiness.close();
    await base.database.destroy();
    base.metrics.stop();
  };
  let servers: OpenServers<Name>;
  try {
    await refuseUnusableSession(base.database);
    for (const client of clients) await client.refuseUnusable?.();
    const handler = serviceApi(base, spec);
    servers = await openServers({ handler, address: spec.address ?? base.address }, spec.servers);
  } catch (error) {
    await stopAll(dispatchers);
    await release();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    url: servers.ownUrl,
    serverUrls: servers.additionalUrls,
    stop: async () => (stopped ??= Promise.all([servers.close(base.drainTime), stopAll(dispatchers)]).then(release)),
  };
}

/** The routes of the spec, health, readiness and metrics. */
function serviceApi(base: ServiceBase, spec: ServiceSpec<string>) {
  const { routes, internalRoutes = [], protocols = [], clients = [], viewerOf, waitingLeases } = spec;
  const { principals, log, build, metrics, checkReplies, limits } = base;
  const readinessChecks = [...base.readinessChecks, ...clients.flatMap(({ readinessCheck }) => readinessCheck ?? [])];
  observeDependencies(readinessChecks, metrics);
  const isStuck = () => isDatabaseStuck(base.database);
  return httpApp({
    routes,
    internalRoutes,
    protocols,
    viewerOf,
    readinessChecks,
    isStuck,
    build,
    principals,
    log,
    metrics,
    checkReplies,
    limits,
    ...(waitingLeases !== undefined && { waitingLeases }),
  });
}

function startBackgroundWork(base: ServiceBase, spec: ServiceSpec<string>): ServiceWorker[] {
  const { broker, database, log, metrics, limits } = base;
  const { consumers = [], periodicTasks = [], workers = [] } = spec;
  const inbox: PeriodicTaskSpec[] =
    consumers.length === 0
      ? []
      : [{ name: 'deleting old inbox rows', work: async () => sweepInbox(database, limits.inboxDays) }];
  return [
    ...consumers.map((consumer) => startConsumer({ broker, database, log, metrics, ...consumer })),
    ...workers,
    ...observeTasks([...periodicTasks, ...inbox], metrics).map((task) =>
      startWithEarlyFirstRun({ interval: base.taskInterval, ...task, log }, base.firstRunWithin),
    ),
  ];
}

interface OpenServers<Name extends string> {
  ownUrl: string;
  additionalUrls: Record<Name, string>;
  /** Drains all servers for this time, milliseconds; then closes one after the other, the service's own last. */
  close(drainTime: number): Promise<void>;
}

/** The service's own server opens first: health and internal routes work before the other servers accept requests. */
async function openServers<Name extends string>(
  internalServer: ServerSpec,
  additional: ServiceSpec<Name>['servers'],
): Promise<OpenServers<Name>> {
  const ownServer = await listen(internalServer.handler, internalServer.address);
  const others = new Map<string, HttpServer>();
  const close = async (drainTime: number) => {
    const all = [...others.values(), ownServer];
    for (const server of all) server.drain();
    if (drainTime > 0) await delay(drainTime);
    for (const server of all) await server.close();
  };
  try {
    for (const [name, { handler, address, onConnection }] of Object.entries<ServerSpec>(
      additional?.(ownServer.url) ?? {},
    )) {
      others.set(name, await listen(handler, address, onConnection));
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  const urls = Object.fromEntries([...others].map(([name, { url }]) => [name, url]));
  return { ownUrl: ownServer.url, additionalUrls: urls as Record<Name, string>, close };
}

/**
 * Starts a periodic task whose first run does not wait for its interval, since a process may be replaced more often
 * than that. The moment is random, so that replicas that start together do not all run their tasks at once.
 */
function startWithEarlyFirstRun(options: Parameters<typeof startPeriodicTask>[0], within: number): ServiceWorker {
  const task = startPeriodicTask(options);
  const firstRun = setTimeout(task.wake, Math.min(Math.random() * within, options.interval));
  return {
    stop: async () => {
      clearTimeout(firstRun);
      await task.stop();
    },
  };
}

const stopAll = async (workers: readonly ServiceWorker[]) => Promise.all(workers.map(async (worker) => worker.stop()));
