import { CURSOR_PURPOSE, httpApp, listen, PRINCIPAL_PURPOSE, signedCursors } from '@tocsin/http';
import { AmqpBroker, type Broker, startRelay } from '@tocsin/messaging';
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
  systemClock,
  type Versions,
} from '@tocsin/runtime';
import type { CustomFieldConfig } from './config.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { schema } from './schema.ts';
import type { Tools } from './usecases/context.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts {
  log: Logger;
  clock: Clock;
  broker: Broker;
  versions: Versions;
  /** In tests: every answer must be what its route declares. */
  checkReplies: boolean;
}

/** Builds the custom-field service, and starts it. */
export async function startApp(config: CustomFieldConfig, parts: Partial<Parts> = {}): Promise<App> {
  const log = parts.log ?? createLogger({ app: 'custom-field', level: config.logLevel });
  const metrics = createMetrics('custom-field');
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: 'tocsin-custom-field' });
  const dependencies: Dependency[] = [databaseDependency(database)];

  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  dependencies.push({ name: 'broker', vital: false, check: async () => broker.connected });
  const redis =
    parts.versions === undefined ? openRedis({ url: config.redisUrl, namespace: config.namespace, log }) : undefined;
  if (redis !== undefined) dependencies.push(redisDependency(redis));
  const versions = parts.versions ?? redisVersions(redis as NonNullable<typeof redis>);
  const relay = startRelay({ database, broker, log, metrics });

  const tools: Tools = { database, clock: parts.clock ?? systemClock, versions, log, wakeRelay: relay.wake };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const handler = httpApp({
    routes: routes({ tools, cursors }),
    internalRoutes: internalRoutes(tools),
    dependencies,
    keyring,
    log,
    metrics,
    checkReplies: parts.checkReplies === true,
  });

  const release = async () => {
    await relay.stop();
    if (parts.broker === undefined) await broker.close();
    redis?.disconnect();
    await database.destroy();
  };
  const server = await listen(handler, config.http).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  return { url: server.url, stop: async () => (stopped ??= server.close().then(release)) };
}
