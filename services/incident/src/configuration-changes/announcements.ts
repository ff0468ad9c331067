import type { Knex } from '@tocsin/postgres';
import { afterCommit, type Logger, startPeriodicTask } from '@tocsin/runtime';
import {
  type UnannouncedConfiguration,
  unannouncedConfigurations,
} from '../configuration/store/unannounced-configurations.ts';
import type { Owners } from '../replicas/clients/owners.ts';

/** Makes the gateway raise the versions of workspaces whose configuration has changed: that makes the change visible. */
export interface ConfigurationAnnouncements {
  /** Call it after the commit and before the response. A failure is only logged: it is repeated within seconds. */
  announce(change: UnannouncedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds between two looks for changes that processes left which have ended. */
const INTERVAL = 60_000;
/** Milliseconds until an announcement that failed is repeated. */
const RETRY = 5_000;
const BATCH = 100;

export function configurationAnnouncements(options: {
  database: Knex;
  owners: Pick<Owners, 'announceConfiguration'>;
  log: Logger;
}): ConfigurationAnnouncements {
  const { database, owners, log } = options;
  const announce = async (change: UnannouncedConfiguration): Promise<boolean> => {
    try {
      await owners.announceConfiguration(change.workspaceId);
      await unannouncedConfigurations(database).remove(change);
      return true;
    } catch (error) {
      log.warn({ err: error, workspace: change.workspaceId }, 'cannot announce the configuration; retrying');
      return false;
    }
  };
  const task = startPeriodicTask({
    name: 'announcing configurations',
    interval: INTERVAL,
    retryAfter: RETRY,
    log,
    work: async () => {
      const changes = await unannouncedConfigurations(database).list(BATCH);
      for (const change of changes) if (!(await announce(change))) return RETRY;
      return changes.length === BATCH;
    },
  });
  return {
    async announce(change) {
      await afterCommit(async () => {
        if (!(await announce(change))) task.wake();
      });
    },
    stop: async () => task.stop(),
  };
}
