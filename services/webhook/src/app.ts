import { QUEUES } from '@tocsin/schemas';
import { CURSOR_PURPOSE, signedCursors, waitingLeases } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { addMilliseconds, type App, type Clock, type DueWork, dueWork, openKeyring } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import {
  openBase,
  type PeriodicTaskSpec,
  personalDataRoutes,
  runService,
  type ServiceOverrides,
} from '@tocsin/service-host';
import { destinationMetrics } from './destinations/destination-metrics.ts';
import { forgetArchived } from './destinations/store/destination-store.ts';
import type { LinkOf } from './destinations/domain/describe-event.ts';
import { type SendingDestinations, startSendingToDestinations } from './destinations/send-destinations.ts';
import { transport } from './destinations/clients/transport.ts';
import { resourceUrl } from './requests/domain/envelope.ts';
import { hostBreakers } from './requests/clients/breakers.ts';
import { incidentClient } from './subscriptions/clients/incidents.ts';
import { sender } from './requests/clients/sender.ts';
import type { WebhookConfig } from './config.ts';
import { routes } from './http/routes.ts';
import { schema } from './schema.ts';
import { clockTime, databaseTime } from './shared/store/time.ts';
import { feedCursors } from './feed/feed-cursors.ts';
import { feedMetrics } from './feed/feed-metrics.ts';
import { startRecentEvents } from './feed/recent-events.ts';
import { recordAndQueueDeliveries } from './deliveries/record-and-queue-deliveries.ts';
import { hideRestricted } from './deliveries/hide-restricted.ts';
import { deleteExpiredData, failExpiredDeliveries } from './deliveries/housekeeping.ts';
import { webhookMetrics } from './queue/metrics.ts';
import { encryptionRotation } from './subscriptions/rotate-encryption.ts';
import { secretCipher } from './subscriptions/secret-cipher.ts';
import { startSending } from './deliveries/send-deliveries.ts';
import { PERSONAL_TABLES } from './erasure/personal-tables.ts';
import { feedConfirmation } from './feed/store/feed-confirmation.ts';
import { deletedIncidents } from './erasure/store/deleted-incidents.ts';
import { erasedUsers } from './erasure/store/erased-users.ts';
import { sweepFeed } from './feed/sweep-feed.ts';
import { feedTrimming } from './feed/trim-feeds.ts';

/** Replacements for the defaults, for the embedded mode and for tests. */
export interface Overrides extends ServiceOverrides {
  /** Default: the database's clock. */
  clock: Clock;
  /** Default: queries to the system's name servers. */
  resolve: Resolve;
  /** Certificates to verify receivers by. Default: the system's. */
  ca: string;
  /** How long a request to a receiver may take; milliseconds. */
  requestTimeout: number;
  /** How often the dispatcher polls the queue when nothing wakes it; milliseconds. */
  dispatchInterval: number;
  /** How often all destinations are looked at when nothing wakes their dispatcher; milliseconds. */
  destinationInterval: number;
  /** Milliseconds between two messages to a chat. */
  destinationPace: number;
  /** How often deliveries that can no longer be made are marked as failed; milliseconds. */
  expiryInterval: number;
  /** How often feeds that have grown too large are trimmed; milliseconds. */
  trimInterval: number;
  /** How often events of incidents that were restricted or deleted are looked for; milliseconds. */
  withdrawInterval: number;
  /** How often waiting readers are told of new events whose notification is lost; milliseconds. */
  feedCheckInterval: number;
}

const DISPATCH_INTERVAL = 20_000;
const EXPIRY_INTERVAL = 30_000;
const TRIM_INTERVAL = 10_000;
const WITHDRAW_INTERVAL = 1_000;

/** Builds and starts the webhook service. */
export async function startApp(config: WebhookConfig, overrides: Partial<Overrides> = {}): Promise<App> {
  const base = openBase({ name: 'webhook', schema, config, overrides });
  const { database, log } = base;
  const incidents = incidentClient({ urls: config.incidentUrls, secretKeys: config.secretKeys });

  const time = overrides.clock === undefined ? databaseTime : clockTime(overrides.clock);
  const breakers = hostBreakers(() => dispatcher.wake());
  const metrics = webhookMetrics({ registry: base.metrics, database, time, openBreakers: breakers.openCount });
  const relay = startRelay(base);
  const { resolve, ca, requestTimeout: timeout } = overrides;
  const post = sender({ egress: config.egress, resolve, ca, timeout });
  const confirm = feedConfirmation(database);
  const keyring = openKeyring(config.secretKeys, CURSOR_PURPOSE);
  const dependencies = {
    database,
    time,
    secretCipher: secretCipher(config.secretKeys),
    sender: post,
    send: transport({ sender: post, mail: config.mail, incidents }),
    sendsMail: config.mail !== undefined,
    feed: { database, confirm },
    incidents,
    metrics,
    log,
    cursors: signedCursors(keyring),
    allowed: config.egress.allowed,
    requestLimits: config.requestLimits,
    deliveryLimits: config.deliveryLimits,
    wakeDispatcher: () => dispatcher.claimNow(),
    wakeDestinations: (workspaceId: number) => destinations.wakeFor(workspaceId),
    wakeRelay: relay.wake,
  };
  const listenUrl = config.database.sharesSessions === true ? undefined : config.database.url;
  const feed = {
    ...{ database, time, confirm },
    cursors: feedCursors(signedCursors(keyring, 'after')),
    metrics: feedMetrics({ registry: base.metrics, database, time }),
    recent: startRecentEvents({
      ...{ database, confirm, log, checkInterval: overrides.feedCheckInterval },
      listenUrl,
      onRecorded: (workspaceId) => destinations.recorded([workspaceId]),
    }),
  };
  const trimming = feedTrimming({ database, metrics: feed.metrics, maxBytes: config.feedMaxBytes });
  const withdrawals = [dueWork(async () => hideRestricted(dependencies)), dueWork(deletedIncidents(database).empty)];
  const onWithdrawal = () => withdrawals.forEach(({ due }) => due());
  const onRecorded = (workspaceIds: readonly number[]) => {
    trimming.recorded(workspaceIds);
    // Where nobody can listen, this process tells itself.
    if (listenUrl === undefined) destinations.recorded(workspaceIds);
  };
  const queueing = { ...dependencies, resourceUrl: config.resourceUrl, onRecorded, onWithdrawal };
  const dispatcher = startSending(dependencies, breakers, overrides.dispatchInterval ?? DISPATCH_INTERVAL);

  const { destinations, destinationBreakers } = startDestinations(base, dependencies, { config, overrides });

  return runService(base, {
    routes: routes(dependencies, feed),
    internalRoutes: personalDataRoutes({
      ...{ database, tables: PERSONAL_TABLES },
      isReady: async ({ workspace, user_id: userId }) => erasedUsers(database).has(workspace.id, userId),
    }),
    waitingLeases: waitingLeases(config.waiting),
    consumers: [
      {
        queue: QUEUES.webhookFeed,
        handleBatch: async (events, trx) => recordAndQueueDeliveries(queueing, { events, trx }),
      },
    ],
    periodicTasks: periodicTasks({ dependencies, feed, trimming, withdrawals, config, overrides }),
    workers: [feed.recent, relay],
    dispatchers: [dispatcher, destinations],
    clients: [breakers, destinationBreakers, incidents],
  });
}

/** Starts the sending to destinations, whose hosts have breakers of their own. */
function startDestinations(
  base: ReturnType<typeof openBase>,
  dependencies: Omit<SendingDestinations, 'linkOf' | 'metrics'>,
  { config, overrides }: { config: WebhookConfig; overrides: Partial<Overrides> },
) {
  const metrics = destinationMetrics({ registry: base.metrics, database: base.database });
  const destinationBreakers = hostBreakers(() => destinations.wake());
  const destinations = startSendingToDestinations(
    { ...dependencies, linkOf: linksOf(config.resourceUrl), metrics, pace: overrides.destinationPace },
    destinationBreakers,
    overrides.destinationInterval,
  );
  return { destinations, destinationBreakers };
}

const linksOf =
  (template: string | undefined): LinkOf =>
  (workspace, incident) =>
    template === undefined
      ? ''
      : resourceUrl(template, workspace, { id: Number(incident['id']), reference: String(incident['reference']) });

function periodicTasks({
  dependencies,
  feed,
  trimming,
  withdrawals,
  config,
  overrides,
}: {
  dependencies: Parameters<typeof failExpiredDeliveries>[0] &
    Parameters<typeof deleteExpiredData>[0] &
    Parameters<typeof encryptionRotation>[0];
  feed: Omit<Parameters<typeof sweepFeed>[0], 'retentionDays'>;
  trimming: ReturnType<typeof feedTrimming>;
  withdrawals: readonly DueWork[];
  config: WebhookConfig;
  overrides: Partial<Overrides>;
}): PeriodicTaskSpec[] {
  return [
    {
      name: 'giving up deliveries',
      interval: overrides.expiryInterval ?? EXPIRY_INTERVAL,
      work: async () => failExpiredDeliveries(dependencies).then(() => false),
    },
    ...withdrawals.map(({ run }) => ({
      name: 'withdrawing events',
      interval: overrides.withdrawInterval ?? WITHDRAW_INTERVAL,
      work: run,
    })),
    {
      name: 'trimming feeds',
      interval: overrides.trimInterval ?? TRIM_INTERVAL,
      work: trimming.trim,
    },
    {
      name: 'deleting expired events',
      work: async () => sweepFeed({ ...feed, retentionDays: config.feedRetentionDays }),
    },
    { name: 'deleting expired data', work: async () => deleteExpiredData(dependencies) },
    {
      name: 'deleting archived destinations',
      work: async () => {
        const { database, time, deliveryLimits } = dependencies;
        return forgetArchived(database, addMilliseconds(await time(database), -deliveryLimits.revokedRetention));
      },
    },
    { name: 'rotating encryption keys', work: encryptionRotation(dependencies) },
  ];
}
