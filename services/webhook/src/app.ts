import { QUEUES } from '@tocsin/contracts';
import type { App, Clock } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import { openBase, runService, type ServiceParts } from '@tocsin/service';
import { breakers as hostBreakers } from './clients/breakers.ts';
import { sender } from './clients/sender.ts';
import type { WebhookConfig } from './config.ts';
import { routes } from './http/routes.ts';
import { incidentHandlers } from './messaging/incidents.ts';
import { schema } from './schema.ts';
import { databaseTime, timeOf } from './store/time.ts';
import type { Tools } from './usecases/context.ts';
import { figures as metricsOf } from './usecases/figures.ts';
import { forgetOldData, giveUpDeliveries } from './usecases/housekeeping.ts';
import { resealBoxes } from './usecases/reseal-boxes.ts';
import { startSending } from './usecases/send-deliveries.ts';
import { vault } from './usecases/vault.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts extends ServiceParts {
  /** Instead of the database's. */
  clock: Clock;
  /** Instead of the name servers. */
  resolve: Resolve;
  /** Certificates that receivers are verified by, instead of the system's. */
  ca: string;
  /** How often the queue is looked at without a cause; milliseconds. */
  dispatchInterval: number;
  /** How often deliveries that can no longer be made are ended; milliseconds. */
  giveUpInterval: number;
}

const DISPATCH_INTERVAL = 1_000;
const GIVE_UP_INTERVAL = 10_000;

/** Builds the webhook service, and starts it. */
export async function startApp(config: WebhookConfig, parts: Partial<Parts> = {}): Promise<App> {
  const base = openBase({ name: 'webhook', schema, config, parts });
  const { database, log, metrics } = base;

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
  const dispatcher = startSending(tools, breakers, parts.dispatchInterval ?? DISPATCH_INTERVAL);

  return runService(base, {
    routes: routes({ tools }),
    consumers: [
      {
        queue: QUEUES.webhookIncidents,
        handlers: incidentHandlers({ time, figures, log, resourceUrl: config.resourceUrl }),
        onCommit: dispatcher.wake,
      },
    ],
    sweeps: [
      {
        name: 'giving up deliveries',
        interval: parts.giveUpInterval ?? GIVE_UP_INTERVAL,
        work: async () => giveUpDeliveries(tools).then(() => false),
      },
      { name: 'forgetting old data', work: async () => forgetOldData(tools) },
      { name: 'replacing old keys', work: async () => resealBoxes(tools) },
    ],
    dispatchers: [dispatcher],
    clients: [breakers],
  });
}
