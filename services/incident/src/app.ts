import { QUEUES } from '@tocsin/contracts';
import { CURSOR_PURPOSE, idempotencyKeyRoute, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import { openBase, openVersions, replicaPulls, runService, type ServiceOverrides } from '@tocsin/service-host';
import { owners as ownerClients } from './replicas/clients/owners.ts';
import { slackChat } from './chat/clients/slack.ts';
import { sourceDocuments } from './source-imports/clients/source-documents.ts';
import type { IncidentConfig } from './config.ts';
import { attachmentUrls } from './timeline/http/attachment-urls.ts';
import { contracts } from './http/contracts.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { customerImpactHandlers } from './incidents/messaging/customer-impact.ts';
import { countIgnored } from './incidents/messaging/ignored-events.ts';
import { investigationRunHandlers } from './incidents/messaging/investigation-runs.ts';
import { replicaHandlers } from './replicas/messaging/replicas.ts';
import { schema } from './schema.ts';
import { configurations } from './configuration/store/configuration-store.ts';
import { configurationAnnouncements } from './configuration-changes/announcements.ts';
import { configurationServices as connectConfigurationServices } from './configuration-changes/clients/configuration-services.ts';
import { fieldDefinitions } from './replicas/store/field-definitions.ts';
import { ownerTeams } from './replicas/store/owner-teams.ts';
import { catalogs } from './replicas/store/catalog.ts';
import { sweepKeyStorage } from './storage/store/storage-store.ts';
import { chats, type ChatTimeout } from './chat/chats.ts';
import { importTurns } from './source-imports/import-turns.ts';
import type { Dependencies } from './dependencies.ts';
import { startProvisioner } from './chat/provisioner.ts';
import { replicas } from './replicas/replicas.ts';
import { chatTokenRotation } from './chat/rotate-chat-tokens.ts';
import { transferServices as connectTransferServices } from './transfer/clients/transfer-services.ts';
import { workspaceStorage } from './storage/workspace-storage.ts';

/** Replacements for the service's dependencies, for the embedded mode and tests. */
export interface Overrides extends ServiceOverrides {
  versions: Versions;
  /** Resolves host names instead of DNS. */
  resolve: Resolve;
  /** CA certificates (PEM) for document servers instead of the system's. */
  ca: string;
  /** Milliseconds for fetching a document. */
  documentTimeout: number;
}

/** Milliseconds for one request to a chat (contract: Chat). */
const CHAT_CALL_TIMEOUT = 5_000;
/** Milliseconds for one method of a chat with all its requests: lists of channels and invitations may have many pages. */
const CHAT_TIMEOUTS: Record<ChatTimeout, number> = { request: 15_000, background: 60_000 };

/** Builds and starts the incident service. */
export async function startApp(config: IncidentConfig, overrides: Partial<Overrides> = {}): Promise<App> {
  const base = openBase({ name: 'incident', schema, config, overrides });
  const { database, log, metrics } = base;
  const versions = openVersions({ config, log, override: overrides.versions });
  const owners = ownerClients({ urls: config.owners, secretKeys: config.secretKeys });
  const configurationServices = connectConfigurationServices({
    urls: { gateway: config.owners.users, catalog: config.owners.catalog },
    secretKeys: config.secretKeys,
  });
  const transferServices = connectTransferServices({ urls: config.owners, secretKeys: config.secretKeys });
  const announcements = configurationAnnouncements({ database, services: configurationServices, log });
  const pulls = replicaPulls({ log, metrics, deadline: config.replicaWait });
  const storage = workspaceStorage({ database, log });
  const relay = startRelay(base);

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
          timeout: CHAT_TIMEOUTS[timeout],
          callTimeout: CHAT_CALL_TIMEOUT,
          signal,
        }),
    }),
    wakeRelay: relay.wake,
  };
  const provisioner = startProvisioner({ dependencies: provisioning, log, metrics });

  const dependencies: Dependencies = {
    ...provisioning,
    configurations: configurations(database),
    configurationServices,
    announcements,
    storage,
    replicas: replicas({ database, versions: versions.versions, owners, pulls, log }),
    fields: fieldDefinitions(database),
    ownerTeams: ownerTeams(database),
    catalogs: catalogs(database),
    documents: sourceDocuments({
      allowed: config.allowed,
      resolve: overrides.resolve,
      ca: overrides.ca,
      timeout: overrides.documentTimeout,
    }),
    importTurns: importTurns(),
    transferServices,
    wakeProvisioner: provisioner.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const attachmentUrl = attachmentUrls({
    baseUrl: config.attachmentBaseUrl,
    secretKeys: config.secretKeys,
    clock: dependencies.clock,
  });
  const ignored = countIgnored(metrics);

  return runService(base, {
    routes: routes({ dependencies, cursors, attachmentUrl }),
    description: new URL('../openapi.json', import.meta.url),
    internalRoutes: [
      ...internalRoutes(dependencies),
      idempotencyKeyRoute({ database, contracts, hours: base.limits.idempotencyHours }),
    ],
    consumers: [
      { queue: QUEUES.incidentReplicas, handlers: replicaHandlers },
      {
        queue: QUEUES.incidentFeeds,
        handlers: { ...customerImpactHandlers(ignored), ...investigationRunHandlers(ignored) },
      },
    ],
    periodicTasks: [
      {
        name: 'deleting expired idempotency keys',
        work: async () => sweepIdempotencyKeys(database, base.limits.idempotencyHours),
      },
      {
        name: 'deleting the counts of expired idempotency keys',
        work: async () => sweepKeyStorage(database, base.limits.idempotencyHours),
      },
      {
        name: 'rotating the encryption of chat tokens',
        work: chatTokenRotation({ chats: dependencies.chats, log, metrics }),
      },
    ],
    dispatchers: [provisioner],
    workers: [relay, pulls, storage, announcements],
    clients: [versions, owners, configurationServices, transferServices],
  });
}
