import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('login_links', (table) => {
    table.binary('token_digest').primary().comment('SHA-256');
    table.bigInteger('user_id').notNullable().references('users.id').index();
    table.timestamp('expires_at', { precision: 3 }).notNullable().index();
  });
}
