import type { Knex } from '@tocsin/postgres';

/** Rows of a transaction. Each waits for no other one, and no request waits for more than one of them. */
const BATCH_SIZE = 100;

export interface Refolding<Row> {
  table: string;
  /** IDs. */
  key: readonly (keyof Row & string)[];
  /** Besides the key: what the folded columns follow from. */
  columns: readonly (keyof Row & string)[];
  /** That of the index. */
  isToFold: string;
  /** Returns the folded columns. */
  fold: (row: Row) => Record<string, unknown>;
}

/**
 * Folds the texts of rows again that an earlier release folded in its way, along an index that has only them (ADR 68).
 * Returns the work of a periodic task. A row that Postgres, by another version of Unicode, calls unfolded after all is
 * passed over until the next run.
 */
export function refolding<Row extends object>(database: Knex, options: Refolding<Row>): () => Promise<boolean> {
  const { table, key, columns, isToFold, fold } = options;
  let after: number[] | undefined;
  return async () =>
    database.transaction(async (trx) => {
      const query = trx(table)
        .whereRaw(`(${isToFold})`)
        .orderBy([...key])
        .limit(BATCH_SIZE)
        .forUpdate()
        .skipLocked();
      if (after !== undefined) void query.whereRaw(`(${key.join(', ')}) > (${key.map(() => '?').join(', ')})`, after);
      const rows = (await query.select([...key, ...columns])) as Row[];
      for (const row of rows) {
        await trx(table)
          .where(Object.fromEntries(key.map((name) => [name, row[name]])))
          .update(fold(row));
      }
      const last = rows.length < BATCH_SIZE ? undefined : rows.at(-1);
      after = last && key.map((name) => last[name] as number);
      return after !== undefined;
    });
}
