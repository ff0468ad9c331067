/**
 * `storage` bounds what a workspace stores (contract: Quotas) (ADR 114). A write neither locks nor stores anything for
 * it. Each process notes which workspaces write, and every five seconds schedules their measurements in the database,
 * for the night or sooner. A measurement sums the sizes of a workspace's incidents and idempotency keys in steps. Each
 * step is a transaction that locks the measurement due longest, and stores how far it came: processes skip what another
 * one has locked, and after a crash any of them goes on. `check` compares the last measurement that this process knows
 * with the quota, and reads no database; a refusal requests the next measurement. What is written in between may exceed
 * the quota: the gateway bounds it by the hour.
 */
import { quotaOf, type WorkspaceContext } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { afterCommit, boundedCache, currentRequest, type Logger, startPeriodicTask } from '@tocsin/runtime';
import { checkStorage, type StorageUse } from './domain/storage-quota.ts';
import { storageStore } from './store/storage-store.ts';

/** Enforces the storage quotas of workspaces by what is measured of their tables (ADR 114). */
export interface WorkspaceStorage {
  /** Checks the request that is under way. Reads no database. @throws DomainError `invalid_resource_state` */
  check(workspace: WorkspaceContext, use: StorageUse): void;
  /** Counts the bytes of the request that is under way, once, when it has stored something. */
  count(workspaceId: number): void;
  stop(): Promise<void>;
}

/** Milliseconds. */
const INTERVAL = 5_000;
/** Milliseconds between two looks for measurements if this process has requested none. */
const LOOK_INTERVAL = 30_000;
/** Steps of measurements in one interval, so that they take a small part of the database's time. */
const STEPS = 5;
/** Bytes of requests of a workspace after which it is not left unmeasured until the night. */
const MANY_BYTES = 256 * 1_048_576;

/** Counts the bytes of the requests of each workspace. `onMany` is called each time that they are many. */
function receivedBytes(onMany: (workspaceId: number) => void) {
  const received = boundedCache<number, number>({ bytes: 4 * 1_048_576 });
  return (workspaceId: number, bytes: number): void => {
    const sum = (received.get(workspaceId) ?? 0) + bytes;
    received.set(workspaceId, sum >= MANY_BYTES ? 0 : sum);
    if (sum >= MANY_BYTES) onMany(workspaceId);
  };
}

export function workspaceStorage({ database, log }: { database: Knex; log: Logger }): WorkspaceStorage {
  const store = storageStore(database);
  /** As the database had it at the last round with a write of the workspace. */
  const measured = boundedCache<number, number>({ bytes: 4 * 1_048_576 });
  /** Workspaces that are written to since the last round, and of these those to measure before the night. */
  const used = new Set<number>();
  const requested = new Set<number>();
  const receive = receivedBytes((workspaceId) => requested.add(workspaceId));
  /** When to look for the next measurement, on the clock of `performance`. */
  let lookAt = 0;

  const lookUp = async (): Promise<void> => {
    const ids = [...used];
    used.clear();
    if (ids.length === 0) return;
    for (const { workspaceId, bytes } of await store.schedule(ids)) measured.set(workspaceId, bytes);
  };

  const request = async (): Promise<void> => {
    const ids = [...requested];
    requested.clear();
    if (ids.length === 0) return;
    lookAt = 0;
    await store.requestMeasurements(ids);
  };

  const measure = async (): Promise<void> => {
    for (let step = 0; step < STEPS; step += 1) {
      const result = (await store.mayMeasure()) ? await store.measure() : undefined;
      if (result === undefined) {
        lookAt = performance.now() + LOOK_INTERVAL;
        return;
      }
      if (result !== 'continues') measured.set(result.workspaceId, result.bytes);
    }
  };

  const task = startPeriodicTask({
    name: 'measuring the storage of workspaces',
    interval: INTERVAL,
    log,
    work: async () => {
      await lookUp();
      await request();
      if (performance.now() >= lookAt) await measure();
      return false;
    },
  });

  return {
    check({ id, ...workspace }, use) {
      const quota = quotaOf(workspace, 'storage_mb');
      const bytes = currentRequest()?.bodyBytes ?? 0;
      used.add(id);
      const stored = measured.get(id);
      if (stored === undefined) {
        measured.set(id, 0);
        lookAt = 0;
        task.wake();
      }
      if (quota === null) return;
      try {
        checkStorage(use, { bytes, stored: stored ?? 0, quota });
      } catch (error) {
        // Deletions and expired keys may have made room.
        requested.add(id);
        throw error;
      }
    },
    count: (id) => afterCommit(() => receive(id, currentRequest()?.bodyBytes ?? 0)),
    stop: task.stop,
  };
}
