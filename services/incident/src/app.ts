import { QUEUES } from '@tocsin/schemas';
import { CURSOR_PURPOSE, idempotencyKeyRoute, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, FairQueue, openKeyring, runInBackground, systemClock, type Versions } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import {
  openBase,
  openVersions,
  type PeriodicTaskSpec,
  replicaPulls,
  runService,
  type ServiceOverrides,
} from '@tocsin/service-host';
import { endOverdue } from './alerts/overdue.ts';
import { announceDueUpdates } from './incidents/announce-due-updates.ts';
import { deleteExpired } from './retention/delete-expired.ts';
import { certainTime } from './retention/store/retention-store.ts';
import { sweepAlerts } from './alerts/store/alert-store.ts';
import { owners as ownerClients } from './replicas/clients/owners.ts';
import { slackChat } from './chat/clients/slack.ts';
import { tableStatistics } from './shared/store/table-statistics.ts';
import { sourceDocuments } from './source-imports/clients/source-documents.ts';
import type { IncidentConfig } from './config.ts';
import { attachmentUrls } from './timeline/http/attachment-urls.ts';
import { contracts } from './http/contracts.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { customerImpactHandlers, countIgnored, investigationRunHandlers } from './incidents/messaging/reports.ts';
import { replicaHandlers } from './replicas/messaging/replicas.ts';
import { schema } from './schema.ts';
import { erasureRoutes } from './erasure/personal-data.ts';
import { configurations } from './configuration/store/configuration-store.ts';
import { configurationAnnouncements } from './configuration-changes/announcements.ts';
import { chats, type ChatTimeout, chatTokenRotation } from './chat/chats.ts';
import { startCommands } from './chat-commands/start-commands.ts';
import { pictureEncoder } from './pictures/clients/picture-encoder.ts';
import { sweepPictures } from './pictures/store/picture-store.ts';
import { startProvisioner } from './chat/provisioner.ts';
import { keptIncidents } from './incidents/optimistic-change.ts';
import { replicas } from './replicas/replicas.ts';
import { trackerKeyring } from './trackers/address.ts';
import { trackerClient } from './trackers/clients/tracker-api.ts';
import { trackerAddressRotation } from './trackers/rotate-addresses.ts';
import { startTrackers } from './trackers/sync-tickets.ts';
import { restrictedWorkspaces } from './visibility/restricted-workspaces.ts';
import { withRestricted } from './visibility/store/with-restricted.ts';
import { viewersOf } from './visibility/viewers.ts';
import { workspaceStorage } from './storage/workspace-storage.ts';

/** Replacements for the service's dependencies, for the embedded mode and tests. */
export interface Overrides extends ServiceOverrides {
  versions: Versions;
  /** Resolves host names instead of DNS. */
  resolve: Resolve;
  /** CA certificates (PEM) for document servers and answers in chats instead of the system's. */
  ca: string;
  /** Milliseconds for fetching a document. */
  documentTimeout: number;
  /** Milliseconds between two looks for heartbeats that were missed. */
  listening: number;
  /** Milliseconds between two looks for updates that are due. */
  announcing: number;
  /** Milliseconds between two polls for work in the chat if nothing wakes it. */
  provisioningInterval: number;
  /** Milliseconds between two looks for sockets of chats. */
  socketInterval: number;
  /** Milliseconds for one request to a tracker. */
  trackerTimeout: number;
  /** Milliseconds between two polls for tickets if nothing wakes the dispatcher. */
  trackerInterval: number;
}

/** Imports that save events at the same time: each uses a connection for long (ADR 48). */
const CONCURRENT_IMPORTS = 2;
/** Milliseconds for one request to a chat (contract: Chat). */
const CHAT_CALL_TIMEOUT = 5_000;
/** Milliseconds for one method of a chat with all its requests: lists of channels and invitations may have many pages. */
const CHAT_TIMEOUTS: Record<ChatTimeout, number> = { request: 15_000, background: 60_000 };

/** Milliseconds between two looks for heartbeats that were missed. */
const LISTENING = 10_000;
/** Milliseconds between two looks for updates that are due. */
const ANNOUNCING = 60_000;

/** Milliseconds until messages and tickets are looked for after a command. */
const WORK_DELAY = 1_000;

/** Builds and starts the incident service. */
export async function startApp(config: IncidentConfig, overrides: Partial<Overrides> = {}): Promise<App> {
  const base = openBase({ name: 'incident', schema, config, overrides });
  const { database, log, metrics } = base;
  const versions = openVersions({ config, log, override: overrides.versions });
  const owners = ownerClients({ urls: config.owners, secretKeys: config.secretKeys });
  const announcements = configurationAnnouncements({ database, owners, log });
  const pulls = replicaPulls({ log, metrics, deadline: config.replicaWait });
  const storage = workspaceStorage({ database, log });
  const encoder = pictureEncoder();
  const relay = startRelay(base);
  const { provisioning, provisioner } = startChats({ base, config, overrides, owners, wakeRelay: relay.wake });
  const lookForWork = lookLater(() => [provisioner, trackers].forEach((each) => each.wake()));
  /** It may have made a message due in the chat, or a ticket. */
  const commandHasEnded = () => {
    relay.wake();
    lookForWork();
  };

  const dependencies = {
    ...provisioning,
    configurations: configurations(database),
    announcements,
    storage,
    encoder,
    replicas: replicas({ database, versions: versions.versions, owners, pulls, log }),
    documents: sourceDocuments({ ...reach({ config, overrides }), timeout: overrides.documentTimeout }),
    keptIncidents: keptIncidents(database),
    imports: new FairQueue<number>({ all: CONCURRENT_IMPORTS }),
    statistics: tableStatistics(database, log),
    alertLeases: new FairQueue<string>({ holder: 1 }),
    wakeProvisioner: provisioner.wake,
    wakeRelay: commandHasEnded,
    ...trackerAccess({ config, overrides }),
    wakeTrackers: () => trackers.wake(),
  };
  const trackers = startTrackers({ ...dependencies, log, metrics }, overrides.trackerInterval);
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const attachmentUrl = attachmentUrls({
    baseUrl: config.attachmentBaseUrl,
    secretKeys: config.secretKeys,
    clock: dependencies.clock,
  });
  const ignored = countIgnored(metrics);
  const viewerOf = viewersOf({
    ...{ findTeams: owners.findTeams, log },
    isAnyRestricted: restrictedWorkspaces(async (ids) => withRestricted(database, ids)),
  });
  const api = routes({ ...dependencies, cursors, attachmentUrl, bodyBytes: base.limits.bodyBytes });
  const commands = startCommands({
    ...{ ...dependencies, routes: api, viewerOf, limits: base.limits, log, metrics },
    ...{ egress: config.egress, apiUrl: config.slackApiUrl, resolve: overrides.resolve, ca: overrides.ca },
    interval: overrides.socketInterval,
  });

  return runService(base, {
    viewerOf,
    routes: api,
    internalRoutes: [
      ...internalRoutes({ ...dependencies, owners }),
      ...erasureRoutes({ database, clock: dependencies.clock, wakeRelay: relay.wake }),
      idempotencyKeyRoute({ database, contracts, hours: base.limits.idempotencyHours }),
    ],
    consumers: [
      { queue: QUEUES.incidentReplicas, handlers: replicaHandlers },
      {
        queue: QUEUES.incidentReports,
        handlers: { ...customerImpactHandlers(ignored), ...investigationRunHandlers(ignored) },
      },
    ],
    periodicTasks: periodicTasks(
      { ...dependencies, secretKeys: config.secretKeys, metrics, log },
      base.limits.idempotencyHours,
      overrides,
    ),
    dispatchers: [provisioner, commands, trackers],
    workers: [relay, pulls, storage, announcements, encoder],
    clients: [versions, owners],
  });
}

const periodicTasks = (
  dependencies: Parameters<typeof endOverdue>[0] &
    Omit<Parameters<typeof deleteExpired>[0], 'time'> &
    Parameters<typeof chatTokenRotation>[0] &
    Parameters<typeof trackerAddressRotation>[0],
  idempotencyHours: number,
  { listening = LISTENING, announcing = ANNOUNCING }: Partial<Overrides>,
): PeriodicTaskSpec[] => {
  // A clock that a test sets decides alone.
  const time = async () =>
    dependencies.clock === systemClock ? certainTime(dependencies.database, systemClock) : dependencies.clock.now();
  return [
    {
      name: 'deleting expired idempotency keys',
      work: async () => sweepIdempotencyKeys(dependencies.database, idempotencyHours),
    },
    { name: 'forgetting groups of alerts', work: async () => sweepAlerts(dependencies.database) },
    {
      name: 'deleting what is kept no longer',
      work: async () => deleteExpired({ ...dependencies, time }),
    },
    {
      name: 'deleting pictures that no event has',
      work: async () => sweepPictures(dependencies.database, await time()),
    },
    { name: 'looking for what was not heard', interval: listening, work: async () => endOverdue(dependencies) },
    {
      name: 'announcing updates that are due',
      interval: announcing,
      work: async () => announceDueUpdates({ ...dependencies, time }),
    },
    { name: 'rotating the encryption of chat tokens', work: chatTokenRotation(dependencies) },
    { name: 'rotating the encryption of trackers', work: trackerAddressRotation(dependencies) },
  ];
};

interface Options {
  config: IncidentConfig;
  overrides: Partial<Overrides>;
}

/** What requests to the outside may reach. */
const reach = ({ config: { egress }, overrides: { resolve, ca } }: Options) => ({ egress, resolve, ca });

/** How trackers are reached. */
const trackerAccess = ({ config, overrides }: Options) => ({
  trackerKeys: trackerKeyring(config.secretKeys),
  trackerClient: trackerClient({ ...reach({ config, overrides }), timeout: overrides.trackerTimeout }),
  allowed: config.egress.allowed,
  publicUrl: config.publicUrl,
});

/** Opens the chats of workspaces, and starts the work in them. */
function startChats(options: {
  base: ReturnType<typeof openBase>;
  config: IncidentConfig;
  overrides: Partial<Overrides>;
  owners: ReturnType<typeof ownerClients>;
  wakeRelay: () => void;
}) {
  const { base, config, overrides, owners, wakeRelay } = options;
  const { database, log, metrics } = base;
  const provisioning = {
    database,
    clock: overrides.clock ?? systemClock,
    chats: chats({
      database,
      secretKeys: config.secretKeys,
      open: (token, timeout, signal) =>
        slackChat({
          token,
          apiUrl: config.slackApiUrl,
          proxy: config.egress.proxy,
          timeout: CHAT_TIMEOUTS[timeout],
          callTimeout: CHAT_CALL_TIMEOUT,
          signal,
        }),
    }),
    owners,
    wakeRelay,
  };
  const provisioner = startProvisioner({
    dependencies: provisioning,
    log,
    metrics,
    interval: overrides.provisioningInterval,
  });
  return { provisioning, provisioner };
}

/** Looks for work a while after it is called: many commands cause one look, not for any of them. */
function lookLater(wakeAll: () => void): () => void {
  let look: NodeJS.Timeout | undefined;
  const wake = () => {
    look = undefined;
    wakeAll();
  };
  return () => {
    look ??= runInBackground(() => setTimeout(wake, WORK_DELAY).unref());
  };
}
