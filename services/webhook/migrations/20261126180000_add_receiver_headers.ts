import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('subscriptions', (table) => {
    table
      .specificType('header_names', 'text[]')
      .notNullable()
      .defaultTo('{}')
      .comment("of the headers of the receiver's own; their values are sealed with the URL");
  });
}
