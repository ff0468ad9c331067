import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('deliveries', (table) => {
    table
      .boolean('restricted')
      .notNullable()
      .defaultTo(false)
      .comment('true: as its event; false: its event decides, since the last release does not write it');
    table.timestamp('queued_at', { precision: 3 }).comment('null: with its event');
  });
}
