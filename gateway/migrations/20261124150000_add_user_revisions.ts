import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('users', (table) => {
    table.bigInteger('revision').notNullable().defaultTo(1).comment('counts the changes of the user');
  });
}
