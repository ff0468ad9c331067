import type { Knex } from '@tocsin/postgres';

/** After a change of the secret keys, the tokens that another key encrypted are looked up. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index chat_connections_key on chat_connections (key_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index chat_connections_key');
}
