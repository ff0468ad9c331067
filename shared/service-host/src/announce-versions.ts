import { changedVersions, type Knex } from '@tocsin/postgres';
import { type Instant, addMilliseconds, type Logger, startPeriodicTask, type VersionedOwner } from '@tocsin/runtime';
import type { ServiceWorker } from './spec.ts';
import type { VersionsClient } from './versions.ts';

const INTERVAL = 15_000;
const BATCH = 500;
/**
 * Milliseconds. A round announces again what changed in this time before the last round: a transaction may commit after
 * a round that started later than the transaction, and Redis may fail over to a replica that lacks the announcement.
 */
const OVERLAP = 60_000;

/** The progress of one pass over the changed workspaces. */
interface Round {
  since: Instant | undefined;
  /** By the database's clock; undefined before the first statement. */
  startedAt: Instant | undefined;
  afterWorkspace: number;
}

/**
 * Repeats the announcements of an owner's versions, because the announcement after a change may fail. At the start and
 * after every reconnect to Redis, which may have lost some, it announces all versions; every 15 seconds it announces
 * those that changed recently. If an announcement fails, the next round repeats it.
 */
export function announceVersions(options: {
  owner: VersionedOwner;
  database: Knex;
  announced: VersionsClient;
  log: Logger;
  /** Milliseconds between two rounds. */
  interval?: number;
}): ServiceWorker {
  const { owner, database, announced, log, interval = INTERVAL } = options;
  /** All changes before this time have been announced. */
  let announcedUntil: Instant | undefined;
  let round: Round | undefined;

  const startRound = (): Round => ({
    since: announcedUntil === undefined ? undefined : addMilliseconds(announcedUntil, -OVERLAP),
    startedAt: undefined,
    afterWorkspace: 0,
  });

  const announceBatch = async (): Promise<boolean> => {
    const current = (round ??= startRound());
    const { now, versions: batch } = await changedVersions(database, { ...current, limit: BATCH });
    current.startedAt ??= now;
    try {
      await Promise.all(
        batch.map(async ({ workspaceId, version }) => announced.versions.raise(owner, workspaceId, version)),
      );
    } catch (error) {
      log.debug({ err: error }, 'cannot announce versions; retrying');
      return false;
    }
    // Redis has reconnected in the meantime: start again with all versions.
    if (round !== current) return true;
    const last = batch.at(-1);
    if (last !== undefined && batch.length === BATCH) {
      current.afterWorkspace = last.workspaceId;
      return true;
    }
    announcedUntil = current.startedAt;
    round = undefined;
    return false;
  };

  const task = startPeriodicTask({ name: 'announcing versions', interval, log, work: announceBatch });
  announced.onConnect(() => {
    announcedUntil = undefined;
    round = undefined;
    task.wake();
  });
  return task;
}
