import type { Knex } from '@tocsin/postgres';

/** For tiers that change together with the rest of a workspace's configuration, which the incident service has (ADR 55). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('configurations', (table) => {
    table.bigInteger('tiers_version').notNullable().defaultTo(0).comment('counts the lists that were prepared');
    table.jsonb('prepared_tiers').comment('the list of tiers_version, until it is known whether it was committed');
  });
}
