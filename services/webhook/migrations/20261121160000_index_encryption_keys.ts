import type { Knex } from '@tocsin/postgres';

/** The rotation of encryption keys looks for rows of replaced keys every hour; in most hours there are none. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index secrets_key on secrets (key_id, id)');
  await knex.raw('create index subscriptions_url_key on subscriptions (url_key_id, id) where url_key_id is not null');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index subscriptions_url_key');
  await knex.raw('drop index secrets_key');
}
