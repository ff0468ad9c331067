/**
 * `custom-field` is the service of the definitions of custom fields (contract: Custom fields). It has no values: those
 * are the incident service's, which has a replica of the definitions, so a change of a definition leaves them as they
 * are. The commands are those of `shared/versioned-resources` (ADR 93): one transaction locks the definition, checks it
 * (`domain/check-field.ts`), and raises the version of the workspace, for which its other changes wait; so quotas,
 * slugs and external IDs are exact. Row and event commit together. Then the version is announced in Redis, before the
 * response, so that the replica is refreshed for the next request; a lost announcement is repeated. A crash before the
 * commit leaves nothing.
 */
import { CURSOR_PURPOSE, signedCursors } from '@tocsin/http';
import { startRelay } from '@tocsin/messaging';
import type { CommandDependencies } from '@tocsin/versioned-resources';
import { type App, openKeyring, systemClock, type Versions } from '@tocsin/runtime';
import {
  announceVersions,
  openBase,
  openVersions,
  personalDataRoutes,
  runService,
  type ServiceOverrides,
} from '@tocsin/service-host';
import type { CustomFieldConfig } from './config.ts';
import { internalRoutes } from './http/internal-routes.ts';
import { fieldRoutes } from './http/field-handlers.ts';
import { schema } from './schema.ts';
import { PERSONAL_TABLES } from './usecases/personal-data.ts';

/** Replacements for what the service opens itself; for the embedded mode and for tests. */
export interface Overrides extends ServiceOverrides {
  versions: Versions;
}

const OWNER = 'custom_field';

/** Builds the custom-field service and starts it. */
export async function startApp(config: CustomFieldConfig, overrides: Partial<Overrides> = {}): Promise<App> {
  const base = openBase({ name: 'custom-field', schema, config, overrides });
  const { database, log } = base;
  const versionsClient = openVersions({ config, log, override: overrides.versions });
  const relay = startRelay(base);
  const announcer = announceVersions({ owner: OWNER, database, announced: versionsClient, log });

  const dependencies: CommandDependencies = {
    owner: OWNER,
    database,
    clock: overrides.clock ?? systemClock,
    versions: versionsClient.versions,
    log,
    wakeRelay: relay.wake,
  };
  const cursors = signedCursors(openKeyring(config.secretKeys, CURSOR_PURPOSE));

  return runService(base, {
    routes: fieldRoutes(dependencies, cursors),
    internalRoutes: [...internalRoutes(dependencies), ...personalDataRoutes({ database, tables: PERSONAL_TABLES })],
    workers: [relay, announcer],
    clients: [versionsClient],
  });
}
