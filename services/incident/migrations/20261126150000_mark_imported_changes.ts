import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('changelog', (table) => {
    table
      .text('import_key')
      .comment('digest of what an import brought as this entry; empty: what an import changed; null: other changes');
  });
}
