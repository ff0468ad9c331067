import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('definitions', (table) => {
    table.text('external_id');
  });
}
