import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('alert_sources', (table) => {
    table
      .jsonb('sender')
      .comment('the principal of its latest request, for what nobody requests; null: nothing is due');
  });
}
