import type { Knex } from '@tocsin/postgres';

/** Runs `work` in a transaction and leaves it open, with its locks. Returns a function that commits it. */
export async function holdTransaction(
  database: Knex,
  work: (trx: Knex.Transaction) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const worked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const transaction = database.transaction(async (trx) => {
    await work(trx);
    worked.resolve();
    await held.promise;
  });
  await Promise.race([worked.promise, transaction]);
  return async () => {
    held.resolve();
    await transaction;
  };
}
