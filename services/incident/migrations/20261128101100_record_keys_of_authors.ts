import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('timeline_events', (table) => {
    table.jsonb('created_by_key').comment('{ name, prefix } of the API key that created it; null: not known');
  });
}
