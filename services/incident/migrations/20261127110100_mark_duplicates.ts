import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.boolean('is_duplicate').notNullable().defaultTo(false).comment('it is a duplicate of another incident');
  });
}
