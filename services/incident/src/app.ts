import { QUEUES } from '@tocsin/contracts';
import { CURSOR_PURPOSE, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import { openBase, openVersions, runService, type ServiceParts } from '@tocsin/service';
import { owners as ownerClients } from './clients/owners.ts';
import { slackChat } from './clients/slack.ts';
import { sourceDocuments } from './clients/source-documents.ts';
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
import { chats, type Patience } from './usecases/chats.ts';
import type { Tools } from './usecases/context.ts';
import { startProvisioner } from './usecases/provisioner.ts';
import { replicas } from './usecases/replicas.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts extends ServiceParts {
  versions: Versions;
  /** Instead of the name servers. */
  resolve: Resolve;
  /** Certificates that servers of documents are verified by, instead of the system's. */
  ca: string;
  /** How long a document may take; milliseconds. */
  documentTimeout: number;
}

/** Milliseconds that a chat may take to answer one call (contract: Chat). */
const CHAT_TIMEOUT = 5_000;
/** Milliseconds that all calls of a question may take: a list of channels or invitations may have many pages. */
const CHAT_PATIENCE: Record<Patience, number> = { 'while-a-client-waits': 15_000, 'in-the-background': 60_000 };

/** Builds the incident service, and starts it. */
export async function startApp(config: IncidentConfig, parts: Partial<Parts> = {}): Promise<App> {
  const base = openBase({ name: 'incident', schema, config, parts });
  const { database, keyring, log, metrics } = base;
  const announced = openVersions({ config, log, brought: parts.versions });
  const owners = ownerClients({ urls: config.owners, keyring });
  const relay = startRelay(base);

  const provisioning = {
    database,
    clock: parts.clock ?? systemClock,
    chats: chats({
      database,
      secretKeys: config.secretKeys,
      open: (token, patience) =>
        slackChat({
          token,
          apiUrl: config.slackApiUrl,
          timeout: CHAT_PATIENCE[patience],
          callTimeout: CHAT_TIMEOUT,
        }),
    }),
    wakeRelay: relay.wake,
  };
  const provisioner = startProvisioner({ tools: provisioning, log, metrics });

  const tools: Tools = {
    ...provisioning,
    configurations: configurations(database),
    replicas: replicas({ database, versions: announced.versions, owners, log }),
    fields: fieldDefinitions(database),
    documents: sourceDocuments({
      testReceivers: config.testReceivers,
      resolve: parts.resolve,
      ca: parts.ca,
      timeout: parts.documentTimeout,
    }),
    wakeProvisioner: provisioner.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));
  const attachmentUrl = attachmentUrls({
    baseUrl: config.attachmentBaseUrl,
    secretKeys: config.secretKeys,
    clock: tools.clock,
  });
  const ignored = countIgnored(metrics);

  return runService(base, {
    routes: routes({ tools, cursors, attachmentUrl }),
    internalRoutes: internalRoutes({ tools }),
    consumers: [
      { queue: QUEUES.incidentReplicas, handlers: replicaHandlers },
      {
        queue: QUEUES.incidentFeeds,
        handlers: { ...customerImpactHandlers(ignored), ...investigationRunHandlers(ignored) },
      },
    ],
    sweeps: [
      { name: 'forgetting idempotency keys', work: async () => sweepIdempotencyKeys(database) },
      { name: 'resealing chat tokens', work: async () => tools.chats.reseal().then(() => false) },
    ],
    dispatchers: [provisioner],
    workers: [relay],
    clients: [announced, owners],
  });
}
