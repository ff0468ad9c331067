import type { Knex } from 'knex';

interface ConcurrentIndex {
  name: string;
  /** What follows ON: `incidents (workspace_id, number) where archived_at is null`. */
  on: string;
  unique?: boolean;
}

/**
 * Creates an index while others read and write its table; for migrations with `config = { transaction: false }`. What an
 * interrupted or failed run has left, which PostgreSQL maintains and never uses, is dropped first.
 */
export async function createIndexConcurrently(
  knex: Knex,
  { name, on, unique = false }: ConcurrentIndex,
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { indisvalid: boolean }[] }>(
    `select x.indisvalid from pg_index x join pg_class i on i.oid = x.indexrelid
     where i.relname = ? and i.relnamespace = current_schema()::regnamespace`,
    [name],
  );
  if (rows[0]?.indisvalid === true) return;
  if (rows.length > 0) await knex.raw('drop index concurrently ??', [name]);
  await knex.raw(`create ${unique ? 'unique ' : ''}index concurrently ?? on ${on}`, [name]);
}
