import { quotaOf, type WorkspaceContext } from '@tocsin/http';
import { boundedCache, type Knex, type Logger, startPeriodicTask } from '@tocsin/runtime';
import { checkStorage, type StorageWrite } from '../domain/storage-quota.ts';
import { storageStore } from '../store/storage-store.ts';

/** Counts about how many bytes workspaces store, and enforces their quotas of storage (ADR 29). */
export interface WorkspaceStorage {
  /** Reads no database. @throws DomainError `invalid_resource_state` */
  check(workspace: WorkspaceContext, write: StorageWrite): void;
  /** Call it after the commit. */
  add(workspaceId: number, bytes: number): void;
  stop(): Promise<void>;
}

/** Milliseconds. */
const INTERVAL = 5_000;
/** Steps of measurements in one interval, so that they take a small part of the database's time. */
const STEPS = 5;

interface Pending {
  bytes: number;
  isRefused: boolean;
}

export function workspaceStorage({ database, log }: { database: Knex; log: Logger }): WorkspaceStorage {
  const store = storageStore(database);
  /** As the database had it at the last round. */
  const known = boundedCache<number, number>({ bytes: 4 * 1_048_576 });
  /** What is not in the database yet. */
  const pending = new Map<number, Pending>();

  const pendingOf = (workspaceId: number): Pending => {
    const entry = pending.get(workspaceId) ?? { bytes: 0, isRefused: false };
    pending.set(workspaceId, entry);
    return entry;
  };

  const flush = async (): Promise<void> => {
    const written = [...pending].map(([workspaceId, { bytes, isRefused }]) => ({ workspaceId, bytes, isRefused }));
    if (written.length === 0) return;
    const stored = await store.add(written);
    for (const { workspaceId, bytes } of written) {
      const entry = pendingOf(workspaceId);
      entry.bytes -= bytes;
      entry.isRefused = false;
      if (entry.bytes === 0) pending.delete(workspaceId);
    }
    for (const { workspaceId, bytes } of stored) known.set(workspaceId, bytes);
  };

  const measure = async (): Promise<void> => {
    for (let step = 0; step < STEPS; step += 1) {
      const measured = await store.measure();
      if (measured === undefined) return;
      if (measured !== 'continues') known.set(measured.workspaceId, measured.bytes);
    }
  };

  const task = startPeriodicTask({
    name: 'counting the storage of workspaces',
    interval: INTERVAL,
    log,
    work: async () => {
      await flush();
      await measure();
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
        pendingOf(workspace.id);
        task.wake();
      }
      const stored = (atLastRound ?? 0) + (pending.get(workspace.id)?.bytes ?? 0);
      try {
        checkStorage(write, { stored, quota });
      } catch (error) {
        // Deletions are not counted, so there may be room again.
        pendingOf(workspace.id).isRefused = true;
        throw error;
      }
    },
    add: (workspaceId, bytes) => {
      pendingOf(workspaceId).bytes += Math.max(0, bytes);
    },
    stop: async () => {
      await task.stop();
      await flush().catch((error: unknown) => log.warn({ err: error }, 'cannot store the counts of storage'));
    },
  };
}
