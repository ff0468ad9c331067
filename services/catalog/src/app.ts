import { QUEUES } from '@tocsin/contracts';
import { CURSOR_PURPOSE, httpApp, listen, PRINCIPAL_PURPOSE, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { AmqpBroker, type Broker, startConsumer, startRelay, sweepInbox } from '@tocsin/messaging';
import {
  type App,
  type Clock,
  createLogger,
  createMetrics,
  databaseDependency,
  type Dependency,
  type Logger,
  openDatabase,
  openKeyring,
  openRedis,
  redisDependency,
  redisVersions,
  startSweep,
  systemClock,
  type Versions,
} from '@tocsin/runtime';
import { neighbours as neighbourClients } from './clients/neighbours.ts';
import type { CatalogConfig } from './config.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { replicaHandlers } from './messaging/replicas.ts';
import { schema } from './schema.ts';
import { configurations } from './store/configuration-store.ts';
import type { Tools } from './usecases/context.ts';
import { replicas } from './usecases/replicas.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts {
  log: Logger;
  clock: Clock;
  broker: Broker;
  versions: Versions;
  /** In tests: every answer must be what its route declares. */
  checkReplies: boolean;
}

const HOUR = 3_600_000;

/** Builds the catalog service, and starts it. */
export async function startApp(config: CatalogConfig, parts: Partial<Parts> = {}): Promise<App> {
  const log = parts.log ?? createLogger({ app: 'catalog', level: config.logLevel });
  const metrics = createMetrics('catalog');
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: 'tocsin-catalog' });
  const dependencies: Dependency[] = [databaseDependency(database)];

  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  dependencies.push({ name: 'broker', vital: false, check: async () => broker.connected });
  const redis =
    parts.versions === undefined ? openRedis({ url: config.redisUrl, namespace: config.namespace, log }) : undefined;
  if (redis !== undefined) dependencies.push(redisDependency(redis));
  const versions = parts.versions ?? redisVersions(redis as NonNullable<typeof redis>);

  const neighbours = neighbourClients({ urls: config.neighbours, keyring });
  const relay = startRelay({ database, broker, log, metrics });
  const consumer = startConsumer({
    broker,
    database,
    queue: QUEUES.catalogReplicas,
    handlers: replicaHandlers,
    log,
    metrics,
  });
  const sweeps = [
    startSweep({
      name: 'forgetting idempotency keys',
      interval: HOUR,
      log,
      work: async () => sweepIdempotencyKeys(database),
    }),
    startSweep({ name: 'forgetting consumed events', interval: HOUR, log, work: async () => sweepInbox(database) }),
  ];

  const tools: Tools = {
    database,
    clock: parts.clock ?? systemClock,
    log,
    configurations: configurations(database),
    replicas: replicas({ database, neighbours, log }),
    neighbours,
    versions,
    wakeRelay: relay.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const handler = httpApp({
    routes: routes({ tools, cursors }),
    internalRoutes: internalRoutes({ tools }),
    dependencies,
    keyring,
    log,
    metrics,
    checkReplies: parts.checkReplies === true,
  });

  const release = async () => {
    await Promise.all([consumer, relay, ...sweeps].map(async (worker) => worker.stop()));
    if (parts.broker === undefined) await broker.close();
    redis?.disconnect();
    neighbours.close();
    await database.destroy();
  };
  const server = await listen(handler, config.http).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  return { url: server.url, stop: async () => (stopped ??= server.close().then(release)) };
}
