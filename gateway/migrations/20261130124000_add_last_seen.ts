import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('users', (table) => {
    table
      .timestamp('last_seen_at', { precision: 3 })
      .comment('when a key or session of the user was used last: to the minute, and written up to a minute later');
  });
}
