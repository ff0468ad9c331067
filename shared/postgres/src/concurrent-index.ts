import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isBlocked } from './migration-blockers.ts';

interface ConcurrentIndex {
  name: string;
  /** What follows ON: `incidents (workspace_id, number) where archived_at is null`. */
  on: string;
  unique?: boolean;
}

/**
 * Creates an index while others read and write its table; for migrations with `config = { transaction: false }`. What an
 * interrupted or failed run has left, which PostgreSQL maintains and never uses, is dropped first. An index of a partitioned
 * table is created on one partition after the other; on the whole table PostgreSQL only does so while writers wait.
 */
export async function createIndexConcurrently(knex: Knex, index: ConcurrentIndex): Promise<void> {
  const { name, on } = index;
  const [table = ''] = /^(?:"[^"]+"|\w+)/.exec(on) ?? [];
  const definition = on.slice(table.length);
  const { rows: partitions } = await knex.raw<{ rows: { table: string; suffix: string }[] }>(
    `select inhrelid::regclass::text as "table", substring(relname from '_p[0-9]+$') as suffix
     from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = to_regclass(?) order by relname`,
    [table],
  );
  if (partitions.length === 0) {
    await createOnTable(knex, index);
    return;
  }
  const parts = partitions.map((partition) => ({ ...partition, name: `${name.slice(0, 59)}${partition.suffix}` }));
  for (const part of parts) await createOnTable(knex, { ...index, name: part.name, on: `${part.table}${definition}` });
  await withoutQueue(knex, `${createStatement(index)} if not exists ?? on only ${on}`, [name]);
  // It becomes valid with the last one. One that is attached stays so.
  for (const part of parts) await withoutQueue(knex, 'alter index ?? attach partition ??', [name, part.name]);
}

const createStatement = ({ unique = false }: ConcurrentIndex) => `create ${unique ? 'unique ' : ''}index`;

async function createOnTable(knex: Knex, index: ConcurrentIndex): Promise<void> {
  const { name, on } = index;
  const { rows } = await knex.raw<{ rows: { indisvalid: boolean }[] }>(
    `select x.indisvalid from pg_index x join pg_class i on i.oid = x.indexrelid
     where i.relname = ? and i.relnamespace = current_schema()::regnamespace`,
    [name],
  );
  if (rows[0]?.indisvalid === true) return;
  if (rows.length > 0) await knex.raw('drop index concurrently ??', [name]);
  await knex.raw(`${createStatement(index)} concurrently ?? on ${on}`, [name]);
}

/** Milliseconds for a lock, and between two attempts to get it; and attempts. */
const LOCK = 1_500;
const PAUSE = 1_000;
const ATTEMPTS = 120;

/** Does what takes no time once it has its lock. All others would wait behind it, so it does not wait for the lock long. */
async function withoutQueue(knex: Knex, statement: string, names: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await knex.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = ${LOCK}`);
        await trx.raw(statement, names);
      });
      return;
    } catch (error) {
      if (!isBlocked(error) || attempt === ATTEMPTS) throw error;
      await delay(PAUSE);
    }
}
