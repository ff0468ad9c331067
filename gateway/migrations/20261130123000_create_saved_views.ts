import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('saved_views', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'user_id']);
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.bigInteger('revision').notNullable().comment('2 at first: a user without a row has the revision 1');
    table.jsonb('views').notNullable().comment('a list of objects with name and search');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
  });
}
