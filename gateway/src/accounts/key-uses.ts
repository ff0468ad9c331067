import type { Knex } from '@tocsin/postgres';
import { type Clock, type Instant, type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { ServiceWorker } from '@tocsin/service-host';
import type { Identity } from '../identity/store/identity-store.ts';
import { keyStore, type Use } from './store/key-store.ts';
import { recordSeen } from './store/user-store.ts';

/**
 * In which minute each key was used last, and each user seen. Uses are collected in memory and stored together, once a
 * minute.
 */
export interface KeyUses extends ServiceWorker {
  /** Called for every request; costs no statement. */
  record(key: Pick<Identity, 'keyId' | 'userId' | 'workspace'>): void;
  /** The minute of a use of a key that may not be stored yet. */
  find(keyId: number): Instant | undefined;
  /** The same for a use of any key of a user. */
  findUser(userId: number): Instant | undefined;
}

const INTERVAL = 60_000;

export function keyUses({ database, clock, log }: { database: Knex; clock: Clock; log: Logger }): KeyUses {
  const keys = collectedUses(async (uses) => {
    await keyStore(database).recordUses(uses);
    return [];
  });
  const users = collectedUses(async (uses) => recordSeen(database, uses));
  const store = async () => {
    await keys.store();
    await users.store();
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
    record: ({ keyId, userId, workspace }) => {
      const minute = `${clock.now().slice(0, 16)}:00.000Z`;
      keys.record({ workspaceId: workspace.id, id: keyId, minute });
      users.record({ workspaceId: workspace.id, id: userId, minute });
    },
    find: keys.find,
    findUser: users.find,
    stop: async () => {
      await task.stop();
      await store().catch((error: unknown) => log.warn({ err: error }, 'cannot store the last uses of API keys'));
    },
  };
}

/**
 * Collects the latest use of each ID until it is stored.
 * @param write returns the uses that it could not store now
 */
function collectedUses(write: (uses: readonly Use[]) => Promise<readonly Use[]>) {
  /** By ID. */
  let collected = new Map<number, Use>();
  let storing: ReadonlyMap<number, Use> = new Map();
  const keep = (uses: Iterable<Use>) => {
    for (const use of uses) if (!collected.has(use.id)) collected.set(use.id, use);
  };
  return {
    record: (use: Use): void => {
      if (collected.get(use.id)?.minute !== use.minute) collected.set(use.id, use);
    },
    find: (id: number): Instant | undefined => (collected.get(id) ?? storing.get(id))?.minute,
    store: async (): Promise<void> => {
      if (collected.size === 0) return;
      storing = collected;
      collected = new Map();
      try {
        keep(await write([...storing.values()]));
      } catch (error) {
        keep(storing.values());
        throw error;
      } finally {
        storing = new Map();
      }
    },
  };
}
