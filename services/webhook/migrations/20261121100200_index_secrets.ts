import type { Knex } from '@tocsin/postgres';

/** A revocation deletes all secrets of a subscription: neither partial index has them all. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('secrets', (table) => {
    table.index('subscription_id');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('secrets', (table) => {
    table.dropIndex('subscription_id');
  });
}
