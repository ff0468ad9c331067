import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('timeline_events', (table) => {
    table.text('external_id').comment('in the system that it was imported from; null: it was created here');
  });
}
