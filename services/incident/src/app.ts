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
import { owners as ownerClients } from './clients/owners.ts';
import type { IncidentConfig } from './config.ts';
import { attachmentUrls } from './http/attachment-urls.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { customerImpactHandlers } from './messaging/customer-impact.ts';
import { countIgnored } from './messaging/ignored.ts';
import { investigationRunHandlers } from './messaging/investigation-runs.ts';
import { replicaHandlers } from './messaging/replicas.ts';
import { schema } from './schema.ts';
import { configurations } from './store/configuration-store.ts';
import { fieldDefinitions } from './store/field-definitions.ts';
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

/** Builds the incident service, and starts it. */
export async function startApp(config: IncidentConfig, parts: Partial<Parts> = {}): Promise<App> {
  const log = parts.log ?? createLogger({ app: 'incident', level: config.logLevel });
  const metrics = createMetrics('incident');
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: 'tocsin-incident' });
  const dependencies: Dependency[] = [databaseDependency(database)];

  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  dependencies.push({ name: 'broker', vital: false, check: async () => broker.connected });
  const redis =
    parts.versions === undefined ? openRedis({ url: config.redisUrl, namespace: config.namespace, log }) : undefined;
  if (redis !== undefined) dependencies.push(redisDependency(redis));
  const versions = parts.versions ?? redisVersions(redis as NonNullable<typeof redis>);

  const owners = ownerClients({ urls: config.owners, keyring });
  const relay = startRelay({ database, broker, log, metrics });
  const consuming = { broker, database, log, metrics };
  const ignored = countIgnored(metrics);
  const consumers = [
    startConsumer({ ...consuming, queue: QUEUES.incidentReplicas, handlers: replicaHandlers }),
    startConsumer({
      ...consuming,
      queue: QUEUES.incidentFeeds,
      handlers: { ...customerImpactHandlers(ignored), ...investigationRunHandlers(ignored) },
    }),
  ];
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
    configurations: configurations(database),
    replicas: replicas({ database, versions, owners, log }),
    fields: fieldDefinitions(database),
    wakeRelay: relay.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const attachmentUrl = attachmentUrls({
    baseUrl: config.attachmentBaseUrl,
    secretKeys: config.secretKeys,
    clock: tools.clock,
  });
  const handler = httpApp({
    routes: routes({ tools, cursors, attachmentUrl }),
    internalRoutes: internalRoutes({ tools }),
    dependencies,
    keyring,
    log,
    metrics,
    checkReplies: parts.checkReplies === true,
  });

  const release = async () => {
    await Promise.all([...consumers, relay, ...sweeps].map(async (worker) => worker.stop()));
    if (parts.broker === undefined) await broker.close();
    redis?.disconnect();
    owners.close();
    await database.destroy();
  };
  const server = await listen(handler, config.http).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  return { url: server.url, stop: async () => (stopped ??= server.close().then(release)) };
}
