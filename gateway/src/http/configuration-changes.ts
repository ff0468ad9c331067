import { changedConfiguration, INTERNAL_PATHS } from '@tocsin/contracts';
import { internalCommand, type InternalRoute } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import { announceConfiguration } from '../usecases/set-workspace.ts';

/** Raises the version of a workspace whose configuration another service has changed: it makes the change visible. */
export function configurationChangesRoutes(options: {
  database: Knex;
  clock: Clock;
  wakeRelay: () => void;
}): InternalRoute[] {
  const { database, clock, wakeRelay } = options;
  return [
    internalCommand({
      path: INTERNAL_PATHS.configurationChanges,
      body: changedConfiguration,
      callers: ['incident'],
      handle: async ({ workspace_id: workspaceId }) => {
        await database.transaction(async (trx) => announceConfiguration(trx, workspaceId, clock.now()));
        wakeRelay();
        return {};
      },
    }),
  ];
}
