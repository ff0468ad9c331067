import type { Knex } from '@tocsin/postgres';

/** Who gets an event is looked up among the subscriptions in use: a workspace may have many revoked ones. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index subscriptions_in_use on subscriptions (workspace_id, seq) where status <> 'revoked'`);
  await knex.raw(`create index subscriptions_revoked on subscriptions (updated_at) where status = 'revoked'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index subscriptions_revoked');
  await knex.raw('drop index subscriptions_in_use');
}
