import type { Knex } from '@tocsin/postgres';
import { type Clock, type Instant, type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { ServiceWorker } from '@tocsin/service-host';
import type { Identity } from '../identity/store/identity-store.ts';
import { type KeyUse, keyStore } from './store/key-store.ts';

/** In which minute each key was used last. Uses are collected in memory and stored together, once a minute. */
export interface KeyUses extends ServiceWorker {
  /** Called for every request; costs no statement. */
  record(key: Pick<Identity, 'keyId' | 'workspace'>): void;
  /** The minute of a use that may not be stored yet. */
  find(keyId: number): Instant | undefined;
}

const INTERVAL = 60_000;

export function keyUses({ database, clock, log }: { database: Knex; clock: Clock; log: Logger }): KeyUses {
  /** By the IDs of the keys. */
  let collected = new Map<number, KeyUse>();
  let storing: ReadonlyMap<number, KeyUse> = new Map();

  const store = async () => {
    if (collected.size === 0) return;
    storing = collected;
    collected = new Map();
    try {
      await keyStore(database).recordUses([...storing.values()]);
    } catch (error) {
      collected = new Map([...storing, ...collected]);
      throw error;
    } finally {
      storing = new Map();
    }
  };
  const task = startPeriodicTask({
    name: 'storing the last uses of API keys',
    interval: INTERVAL,
    log,
    work: async () => {
      await store();
      return false;
    },
  });
  return {
    record: ({ keyId, workspace }) => {
      const minute = `${clock.now().slice(0, 16)}:00.000Z`;
      if (collected.get(keyId)?.minute === minute) return;
      collected.set(keyId, { workspaceId: workspace.id, keyId, minute });
    },
    find: (keyId) => (collected.get(keyId) ?? storing.get(keyId))?.minute,
    stop: async () => {
      await task.stop();
      await store().catch((error: unknown) => log.warn({ err: error }, 'cannot store the last uses of API keys'));
    },
  };
}
