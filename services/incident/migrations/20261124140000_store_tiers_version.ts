import type { Knex } from '@tocsin/postgres';

/** For service tiers that change together with the rest of a workspace's configuration (ADR 55). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('configurations', (table) => {
    table
      .bigInteger('tiers_version')
      .notNullable()
      .defaultTo(0)
      .comment('the version of the latest list of service tiers, which the catalog stores, that was committed');
  });
}
