import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('timeline_events', (table) => {
    table.text('edited_by').comment('who changed it last; null: nobody');
    table.timestamp('edited_at', { precision: 3 });
    table.text('edited_key_name').comment('of the API key that was used, at that time');
    table.text('edited_key_prefix');
  });
}
