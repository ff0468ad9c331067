import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('changelog', (table) => {
    table.boolean('is_of_parts').notNullable().defaultTo(false).comment('of timeline events or a follow-up');
  });
}
