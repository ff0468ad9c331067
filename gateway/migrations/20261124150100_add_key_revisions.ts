import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('api_keys', (table) => {
    table.bigInteger('revision').notNullable().defaultTo(1).comment('counts the changes of the key');
    table.timestamp('last_used_at', { precision: 3 }).comment('to the minute, and written up to a minute later');
  });
}
