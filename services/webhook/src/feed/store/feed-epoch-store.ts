import { randomUUID } from 'node:crypto';
import { type Knex, query } from '@tocsin/postgres';
import type { Fingerprint } from '../domain/fingerprint.ts';

export interface StoredEpoch {
  epoch: string;
  fingerprint: Fingerprint;
}

/** What every role may read. */
const OIDS = `(select oid::bigint from pg_database where datname = current_database()) as database,
  'feed_events'::regclass::oid::bigint as "table"`;

/** The timeline is part of the name of the current WAL file. A standby has no current one. */
const FULL = `select (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline, ${OIDS}`;

const REDUCED = `select null as system, null as timeline, ${OIDS}`;

/** Some operators of databases keep these functions from ordinary roles. */
const MAY_READ_ALL = `select bool_and(has_function_privilege(name, 'execute')) as allowed
  from unnest(array['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)']) as function (name)`;

/** The epoch of the feed, over a pool or a transaction. */
export function feedEpochStore(db: Knex) {
  return {
    /** Whether the role may read all parts of a fingerprint. */
    async mayReadAll(): Promise<boolean> {
      const [row] = await query<{ allowed: boolean }>(db, { text: MAY_READ_ALL });
      return row?.allowed === true;
    },

    /** The fingerprint of the database as it is now. */
    async fingerprint(isComplete: boolean): Promise<Fingerprint> {
      const [row] = await query<Fingerprint>(db, { text: isComplete ? FULL : REDUCED });
      return row as Fingerprint;
    },

    find: async (): Promise<StoredEpoch | undefined> =>
      db('feed_epoch').first<StoredEpoch | undefined>('epoch', 'fingerprint'),

    /** Writes the first epoch, unless there is one. */
    async begin(fingerprint: Fingerprint): Promise<void> {
      await db('feed_epoch')
        .insert({ epoch: randomUUID(), fingerprint: JSON.stringify(fingerprint) })
        .onConflict()
        .ignore();
    },

    /** Replaces this epoch by a new one, unless another process has. */
    async replace(epoch: string, fingerprint: Fingerprint): Promise<void> {
      await db('feed_epoch')
        .where({ epoch })
        .update({ epoch: randomUUID(), fingerprint: JSON.stringify(fingerprint) });
    },

    /** Keeps the epoch and completes its fingerprint. */
    async complete(epoch: string, fingerprint: Fingerprint): Promise<void> {
      await db('feed_epoch')
        .where({ epoch })
        .update({ fingerprint: JSON.stringify(fingerprint) });
    },
  };
}
