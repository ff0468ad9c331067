import type { Knex } from '@tocsin/postgres';
import { type Logger, runInBackground } from '@tocsin/runtime';
import { isAsComplete, isSameDatabase } from './domain/fingerprint.ts';
import { feedEpochStore } from './store/feed-epoch-store.ts';

/** The epoch of the feed: cursors of another epoch have expired, because events that they passed may be lost. */
export interface FeedEpoch {
  /** The epoch, as of at most a second ago. */
  current(): Promise<string>;
  /** Compares the database with the fingerprint of the epoch, and begins a new epoch if it is another one. */
  check(): Promise<string>;
}

/** Milliseconds. */
const FRESH = 1_000;

export function feedEpoch({ database, log }: { database: Knex; log: Logger }): FeedEpoch {
  const store = feedEpochStore(database);
  let isComplete: boolean | undefined;
  let checked: { at: number; epoch: Promise<string> } | undefined;

  const readFingerprint = async () => {
    if (isComplete === undefined) {
      isComplete = await store.mayReadAll();
      if (!isComplete)
        log.warn(
          'the role may not execute pg_control_system(), pg_current_wal_lsn() and pg_walfile_name(): of a restoration, the event feed only notices one into new tables',
        );
    }
    return store.fingerprint(isComplete);
  };

  const check = async (): Promise<string> => {
    const fingerprint = await readFingerprint();
    for (;;) {
      const stored = await store.find();
      if (stored === undefined) {
        await store.begin(fingerprint);
        continue;
      }
      if (isSameDatabase(stored.fingerprint, fingerprint)) {
        if (!isAsComplete(fingerprint, stored.fingerprint)) await store.complete(stored.epoch, fingerprint);
        return stored.epoch;
      }
      log.warn(
        { was: stored.fingerprint, is: fingerprint },
        'the database was restored: cursors of the event feed expire',
      );
      await store.replace(stored.epoch, fingerprint);
    }
  };

  const current = async (): Promise<string> => {
    const now = performance.now();
    if (checked === undefined || now - checked.at > FRESH) {
      // Other requests wait for it, too.
      const epoch = runInBackground(check);
      const mine = (checked = { at: now, epoch });
      // The next request tries again.
      epoch.catch(() => {
        if (checked === mine) checked = undefined;
      });
    }
    return checked.epoch;
  };

  return { current, check };
}

/** Whether the feed has an epoch, and whether that is the one of this database. */
export async function feedEpochState(database: Knex): Promise<'missing' | 'current' | 'of another database'> {
  const store = feedEpochStore(database);
  const stored = await store.find();
  if (stored === undefined) return 'missing';
  const fingerprint = await store.fingerprint(await store.mayReadAll());
  return isSameDatabase(stored.fingerprint, fingerprint) ? 'current' : 'of another database';
}

/**
 * Begins a new epoch of the feed, whatever the fingerprint says: all cursors expire. For a restoration into the same
 * tables.
 */
export async function newFeedEpoch(database: Knex): Promise<void> {
  const store = feedEpochStore(database);
  const fingerprint = await store.fingerprint(await store.mayReadAll());
  await store.begin(fingerprint);
  const stored = await store.find();
  if (stored !== undefined) await store.replace(stored.epoch, fingerprint);
}
