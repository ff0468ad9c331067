import { QUEUES } from '@tocsin/contracts';
import { CURSOR_PURPOSE, signedCursors, sweepIdempotencyKeys } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import { openBase, openVersions, runService, type ServiceParts } from '@tocsin/service';
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
export interface Parts extends ServiceParts {
  versions: Versions;
}

/** Builds the catalog service, and starts it. */
export async function startApp(config: CatalogConfig, parts: Partial<Parts> = {}): Promise<App> {
  const base = openBase({ name: 'catalog', schema, config, parts });
  const { database, keyring, log } = base;
  const announced = openVersions({ config, log, brought: parts.versions });
  const neighbours = neighbourClients({ urls: config.neighbours, keyring });
  const relay = startRelay(base);

  const tools: Tools = {
    database,
    clock: parts.clock ?? systemClock,
    log,
    configurations: configurations(database),
    replicas: replicas({ database, neighbours, log }),
    neighbours,
    versions: announced.versions,
    wakeRelay: relay.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));

  return runService(base, {
    routes: routes({ tools, cursors }),
    internalRoutes: internalRoutes({ tools }),
    consumers: [{ queue: QUEUES.catalogReplicas, handlers: replicaHandlers }],
    sweeps: [{ name: 'forgetting idempotency keys', work: async () => sweepIdempotencyKeys(database) }],
    workers: [relay],
    clients: [announced, neighbours],
  });
}
