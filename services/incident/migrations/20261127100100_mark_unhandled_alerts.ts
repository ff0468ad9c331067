import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table
      .boolean('is_unhandled_alert')
      .notNullable()
      .defaultTo(false)
      .comment('an alert declared it, and nobody has acted on it since');
  });
}
