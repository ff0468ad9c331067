import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('chat_connections', (table) => {
    table.boolean('posts_updates').notNullable().defaultTo(false).comment('of incidents, into their channels');
  });
}
