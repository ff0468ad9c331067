import { CURSOR_PURPOSE, signedCursors } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import { type App, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import { openBase, openVersions, runService, type ServiceParts } from '@tocsin/service';
import type { CustomFieldConfig } from './config.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { routes } from './http/routes.ts';
import { schema } from './schema.ts';
import type { Tools } from './usecases/context.ts';

/** What a caller may bring instead of the real thing: the embedded way to run, and tests. */
export interface Parts extends ServiceParts {
  versions: Versions;
}

/** Builds the custom-field service, and starts it. */
export async function startApp(config: CustomFieldConfig, parts: Partial<Parts> = {}): Promise<App> {
  const base = openBase({ name: 'custom-field', schema, config, parts });
  const { database, log } = base;
  const announced = openVersions({ config, log, brought: parts.versions });
  const relay = startRelay(base);

  const tools: Tools = {
    database,
    clock: parts.clock ?? systemClock,
    versions: announced.versions,
    log,
    wakeRelay: relay.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));

  return runService(base, {
    routes: routes({ tools, cursors }),
    internalRoutes: internalRoutes(tools),
    workers: [relay],
    clients: [announced],
  });
}
