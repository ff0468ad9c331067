import type { Knex } from '@tocsin/postgres';

const find = async (db: Knex) => db('installation').first<{ id: string } | undefined>('id');

/** The ID of the installation: made once, the same for all gateways, and restored with a backup. */
export async function installationId(db: Knex): Promise<string> {
  let row = await find(db);
  if (row === undefined) {
    await db('installation').insert({ is_only_row: true, id: crypto.randomUUID() }).onConflict('is_only_row').ignore();
    row = await find(db);
  }
  return (row as { id: string }).id;
}
