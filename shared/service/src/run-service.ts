import { httpApp, type HttpServer, listen } from '@tocsin/http';
import { startConsumer, sweepInbox } from '@tocsin/messaging';
import { type App, startSweep } from '@tocsin/runtime';
import type { ServiceBase } from './base.ts';
import type { ServiceSpec, ServiceWorker, SweepSpec } from './spec.ts';

const HOUR = 3_600_000;

/**
 * Starts a service's consumers and sweeps and lets requests in. Stopping lets the requests under way finish, then stops
 * what works in the background (the relay publishes what the outbox still holds), then closes broker, clients and database.
 * @throws what keeps the server from listening, once all of that is closed
 */
export async function runService(base: ServiceBase, spec: ServiceSpec): Promise<App> {
  const { broker, database, log, metrics } = base;
  const { consumers = [], sweeps = [], workers = [], dispatchers = [], clients = [] } = spec;
  const handler = httpApp({
    routes: spec.routes,
    internalRoutes: spec.internalRoutes ?? [],
    dependencies: [...base.dependencies, ...clients.flatMap(({ dependency }) => dependency ?? [])],
    keyring: base.keyring,
    log,
    metrics,
    checkReplies: base.checkReplies,
  });
  const inbox: SweepSpec[] =
    consumers.length === 0 ? [] : [{ name: 'forgetting consumed events', work: async () => sweepInbox(database) }];
  const background = [
    ...consumers.map((consumer) => startConsumer({ broker, database, log, metrics, ...consumer })),
    ...workers,
    ...[...sweeps, ...inbox].map((sweep) => startSweep({ interval: HOUR, ...sweep, log })),
  ];

  const release = async () => {
    await stopAll(background);
    await base.closeBroker();
    for (const client of clients) await client.close();
    await database.destroy();
  };
  let server: HttpServer;
  try {
    server = await listen(handler, base.address);
  } catch (error) {
    await stopAll(dispatchers);
    await release();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    url: server.url,
    stop: async () => (stopped ??= Promise.all([server.close(), stopAll(dispatchers)]).then(release)),
  };
}

const stopAll = async (workers: readonly ServiceWorker[]) => Promise.all(workers.map(async (worker) => worker.stop()));
