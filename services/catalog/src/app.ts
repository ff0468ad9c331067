/**
 * `catalog` is the service of services and teams (contract: Catalog). Its commands are those of
 * `shared/versioned-resources` (ADR 93): one transaction locks the hierarchy if several teams are concerned, then the
 * resource, checks, and raises the version of the workspace, for which its other changes wait; so quotas, slugs and
 * external IDs are exact. Row, event and the outcome of the Idempotency-Key commit together. Then the version is
 * announced in Redis, before the response, so that replicas know that they are behind; a lost announcement is repeated.
 * Members are checked by a replica of the gateway's users; while it may be stale, what it would refuse is 503. Tiers
 * are prepared by the incident service, which says later whether it has committed them (ADR 55); until then no service
 * gets a tier. A crash leaves what was committed, and relay and announcer find it. Who is on call for a team stands in a
 * calendar or a schedule elsewhere, which is read when it is set and then every ten minutes, under a lease; requests show
 * what was read last (ADR 123).
 */
import { QUEUES } from '@tocsin/schemas';
import { CURSOR_PURPOSE, idempotencyKeyRoute, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, FairQueue, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import {
  announceVersions,
  openBase,
  openVersions,
  personalDataRoutes,
  replicaPulls,
  runService,
  type ServiceOverrides,
} from '@tocsin/service-host';
import { internalServices as connectInternalServices } from './clients/internal-services.ts';
import { onCallReader } from './clients/on-call-reader.ts';
import type { CatalogConfig } from './config.ts';
import { contracts } from './http/contracts.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { userEventHandlers } from './messaging/user-events.ts';
import { schema } from './schema.ts';
import { configurations } from './store/configuration-store.ts';
import type { Dependencies } from './usecases/context.ts';
import { currentTiers } from './usecases/current-tiers.ts';
import { addressCipher, addressRotation } from './usecases/on-call-addresses.ts';
import { isUserErased, PERSONAL_TABLES } from './usecases/personal-data.ts';
import { refreshOnCall } from './usecases/refresh-on-call.ts';
import { userReplica } from './usecases/user-replica.ts';

/** Replacements for what the service opens itself; for the embedded mode and for tests. */
export interface Overrides extends ServiceOverrides {
  versions: Versions;
  /** Resolves host names instead of DNS. */
  resolve: Resolve;
  /** CA certificates (PEM) for the servers of calendars instead of the system's. */
  ca: string;
  /** Milliseconds for reading a calendar or a schedule. */
  onCallTimeout: number;
  /** Milliseconds between two looks for calendars and schedules that are due. */
  onCallInterval: number;
}

/** Sources of who is on call that requests wait for at once; those of a workspace must not block the others. */
const READS = { all: 16, holder: 1 };
const ON_CALL_INTERVAL = 60_000;

const OWNER = 'catalog';

/** Builds the catalog service and starts it. */
export async function startApp(config: CatalogConfig, overrides: Partial<Overrides> = {}): Promise<App> {
  const base = openBase({ name: 'catalog', schema, config, overrides });
  const { database, log, metrics } = base;
  const versionsClient = openVersions({ config, log, override: overrides.versions });
  const internalServices = connectInternalServices({ urls: config.internalUrls, secretKeys: config.secretKeys });
  const pulls = replicaPulls({ log, metrics, deadline: config.replicaWait });
  const relay = startRelay(base);
  const announcer = announceVersions({ owner: OWNER, database, announced: versionsClient, log });

  const versioned = { owner: OWNER, database, versions: versionsClient.versions, log, wakeRelay: relay.wake } as const;
  const readTiers = currentTiers({ ...versioned, internalServices });
  const dependencies: Dependencies = {
    ...versioned,
    clock: overrides.clock ?? systemClock,
    configurations: configurations(readTiers),
    currentTiers: readTiers,
    userReplica: userReplica({ database, internalServices, pulls }),
    internalServices,
    addresses: addressCipher(config.secretKeys),
    reader: onCallReader({
      egress: config.egress,
      resolve: overrides.resolve,
      ca: overrides.ca,
      timeout: overrides.onCallTimeout,
    }),
    reads: new FairQueue<number>(READS),
    allowed: config.egress.allowed,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));

  return runService(base, {
    routes: routes(dependencies, cursors),
    internalRoutes: [
      ...internalRoutes(dependencies),
      ...personalDataRoutes({
        ...{ database, tables: PERSONAL_TABLES },
        isReady: async (request) => isUserErased(database, request),
      }),
      idempotencyKeyRoute({ database, contracts, hours: base.limits.idempotencyHours }),
    ],
    consumers: [{ queue: QUEUES.catalogReplicas, handlers: userEventHandlers }],
    periodicTasks: [
      {
        name: 'deleting expired idempotency keys',
        work: async () => sweepIdempotencyKeys(database, base.limits.idempotencyHours),
      },
      {
        name: 'reading who is on call',
        interval: overrides.onCallInterval ?? ON_CALL_INTERVAL,
        work: async () => refreshOnCall(dependencies),
      },
      {
        name: 'rotating the encryption of addresses of who is on call',
        work: addressRotation({ database, cipher: dependencies.addresses, log, metrics }),
      },
    ],
    workers: [relay, announcer, pulls],
    clients: [versionsClient, internalServices],
  });
}
