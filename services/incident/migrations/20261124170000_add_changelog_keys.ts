import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('changelog', (table) => {
    table.text('api_key_name').comment('of the API key that was used, at that time; null: the system, or not known');
    table.text('api_key_prefix').comment('the first characters of its token');
  });
}
