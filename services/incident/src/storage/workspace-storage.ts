import { quotaOf, type WorkspaceContext } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import { afterCommit, boundedCache, type Logger, startPeriodicTask } from '@tocsin/runtime';
import { checkStorage, type StorageWrite } from './domain/storage-quota.ts';
import { storageStore } from './store/storage-store.ts';

export interface StoredBytes {
  bytes: number;
  /** Those of a response that is stored with an idempotency key. */
  keyBytes?: number;
}

/** Counts about how many bytes workspaces store, and enforces their quotas of storage (ADR 29). */
export interface WorkspaceStorage {
  /** Reads no database. @throws DomainError `invalid_resource_state` */
  check(workspace: WorkspaceContext, write: StorageWrite): void;
  /** Call it after the commit. */
  add(workspaceId: number, written: StoredBytes): void;
  stop(): Promise<void>;
}

/** Milliseconds. */
const INTERVAL = 5_000;
/** Milliseconds between two looks for measurements if this process has caused none. */
const LOOK_INTERVAL = 30_000;
/** Steps of measurements in one interval, so that they take a small part of the database's time. */
const STEPS = 5;

export function workspaceStorage({ database, log }: { database: Knex; log: Logger }): WorkspaceStorage {
  const store = storageStore(database);
  /** As the database had it at the last round. */
  const known = boundedCache<number, number>({ bytes: 4 * 1_048_576 });
  /** Bytes that are not in the database yet, by workspace. */
  const pending = new Map<number, { bytes: number; keyBytes: number }>();
  /** Workspaces with a refusal since the last round. */
  const refused = new Set<number>();

  const addPending = (workspaceId: number, { bytes = 0, keyBytes = 0 }) => {
    const before = pending.get(workspaceId) ?? { bytes: 0, keyBytes: 0 };
    pending.set(workspaceId, { bytes: before.bytes + bytes, keyBytes: before.keyBytes + keyBytes });
  };

  /** When to look for the next measurement, on the clock of `performance`. */
  let lookAt = 0;

  const flush = async (): Promise<void> => {
    const written = [...pending].map(([workspaceId, counts]) => ({ workspaceId, ...counts }));
    if (written.length === 0) return;
    lookAt = 0;
    const stored = await store.add(written);
    for (const { workspaceId, bytes, keyBytes } of written) {
      addPending(workspaceId, { bytes: -bytes, keyBytes: -keyBytes });
      const rest = pending.get(workspaceId);
      if (rest?.bytes === 0 && rest.keyBytes === 0) pending.delete(workspaceId);
    }
    for (const { workspaceId, bytes } of stored) known.set(workspaceId, bytes);
  };

  /** Deletions are not counted, so a measurement may find that there is room again. */
  const measureRefused = async (): Promise<void> => {
    if (refused.size === 0) return;
    lookAt = 0;
    await store.requestMeasurement([...refused]);
    refused.clear();
  };

  const measure = async (): Promise<void> => {
    for (let step = 0; step < STEPS; step += 1) {
      const measured = (await store.mayMeasure()) ? await store.measure() : undefined;
      if (measured === undefined) {
        lookAt = performance.now() + LOOK_INTERVAL;
        return;
      }
      if (measured !== 'continues') known.set(measured.workspaceId, measured.bytes);
    }
  };

  const task = startPeriodicTask({
    name: 'counting the storage of workspaces',
    interval: INTERVAL,
    log,
    work: async () => {
      await flush();
      await measureRefused();
      if (performance.now() >= lookAt) await measure();
      return false;
    },
  });

  return {
    check(workspace, write) {
      const quota = quotaOf(workspace, 'storage_mb');
      if (quota === null) return;
      const atLastRound = known.get(workspace.id);
      if (atLastRound === undefined) {
        known.set(workspace.id, 0);
        addPending(workspace.id, {});
        task.wake();
      }
      const { bytes = 0, keyBytes = 0 } = pending.get(workspace.id) ?? {};
      const stored = (atLastRound ?? 0) + bytes + keyBytes;
      try {
        checkStorage(write, { stored, quota });
      } catch (error) {
        // Also to learn what other processes have measured.
        addPending(workspace.id, {});
        refused.add(workspace.id);
        throw error;
      }
    },
    add: (workspaceId, { bytes, keyBytes = 0 }) =>
      afterCommit(() => addPending(workspaceId, { bytes: Math.max(0, bytes), keyBytes })),
    stop: async () => {
      await task.stop();
      await flush().catch((error: unknown) => log.warn({ err: error }, 'cannot store the counts of storage'));
    },
  };
}
