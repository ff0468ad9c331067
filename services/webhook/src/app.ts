import { QUEUES } from '@tocsin/contracts';
import { httpApp, listen, PRINCIPAL_PURPOSE } from '@tocsin/http';
import { AmqpBroker, type Broker, startConsumer, sweepInbox } from '@tocsin/messaging';
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
  startSweep,
} from '@tocsin/runtime';
import { breakers as hostBreakers } from './clients/breakers.ts';
import type { Resolve } from './clients/safe-http/system-resolver.ts';
import { sender } from './clients/sender.ts';
import type { WebhookConfig } from './config.ts';
import { routes } from './http/routes.ts';
import { incidentHandlers } from './messaging/incidents.ts';
import { schema } from './schema.ts';
import { databaseTime, timeOf } from './store/time.ts';
import type { Tools } from './usecases/context.ts';
import { startDispatcher } from './usecases/dispatcher.ts';
import { figures as metricsOf } from './usecases/figures.ts';
import { forgetOldData, giveUpDeliveries } from './usecases/housekeeping.ts';
import { resealBoxes } from './usecases/reseal-boxes.ts';
import { vault } from './usecases/vault.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts {
  log: Logger;
  /** Instead of the database's. */
  clock: Clock;
  broker: Broker;
  /** Instead of the name servers. */
  resolve: Resolve;
  /** Certificates that receivers are verified by, instead of the system's. */
  ca: string;
  /** How often the queue is looked at without a cause; milliseconds. */
  dispatchInterval: number;
  /** How often deliveries that can no longer be made are ended; milliseconds. */
  giveUpInterval: number;
  /** In tests: every answer must be what its route declares. */
  checkReplies: boolean;
}

const DISPATCH_INTERVAL = 1_000;
const GIVE_UP_INTERVAL = 10_000;
const HOUR = 3_600_000;

/** Builds the webhook service, and starts it. */
export async function startApp(config: WebhookConfig, parts: Partial<Parts> = {}): Promise<App> {
  const log = parts.log ?? createLogger({ app: 'webhook', level: config.logLevel });
  const metrics = createMetrics('webhook');
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: 'tocsin-webhook' });
  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  const dependencies: Dependency[] = [
    databaseDependency(database),
    { name: 'broker', vital: false, check: async () => broker.connected },
  ];

  const time = parts.clock === undefined ? databaseTime : timeOf(parts.clock);
  const breakers = hostBreakers(() => dispatcher.wake());
  const figures = metricsOf({ metrics, database, time, openBreakers: breakers.openCount });
  const tools: Tools = {
    database,
    time,
    vault: vault(config.secretKeys),
    sender: sender({ testReceivers: config.testReceivers, resolve: parts.resolve, ca: parts.ca }),
    figures,
    log,
    testReceivers: config.testReceivers,
    wakeDispatcher: () => dispatcher.wake(),
  };
  const dispatcher = startDispatcher(tools, breakers, parts.dispatchInterval ?? DISPATCH_INTERVAL);
  const consumer = startConsumer({
    broker,
    database,
    queue: QUEUES.webhookIncidents,
    handlers: incidentHandlers({ time, figures, log, resourceUrl: config.resourceUrl }),
    log,
    metrics,
    onCommit: dispatcher.wake,
  });
  const sweeps = [
    startSweep({
      name: 'giving up deliveries',
      interval: parts.giveUpInterval ?? GIVE_UP_INTERVAL,
      log,
      work: async () => giveUpDeliveries(tools).then(() => false),
    }),
    startSweep({ name: 'forgetting old data', interval: HOUR, log, work: async () => forgetOldData(tools) }),
    startSweep({ name: 'replacing old keys', interval: HOUR, log, work: async () => resealBoxes(tools) }),
    startSweep({ name: 'forgetting consumed events', interval: HOUR, log, work: async () => sweepInbox(database) }),
  ];
  const handler = httpApp({
    routes: routes({ tools }),
    dependencies,
    keyring,
    log,
    metrics,
    checkReplies: parts.checkReplies === true,
  });

  const release = async () => {
    await Promise.all([consumer, dispatcher, ...sweeps].map(async (worker) => worker.stop()));
    if (parts.broker === undefined) await broker.close();
    breakers.close();
    await database.destroy();
  };
  const server = await listen(handler, config.http).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  return {
    url: server.url,
    stop: async () => (stopped ??= Promise.all([server.close(), dispatcher.stop()]).then(release)),
  };
}
