import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('services', (table) => {
    table.text('runbook_url').comment('null: none');
  });
}
