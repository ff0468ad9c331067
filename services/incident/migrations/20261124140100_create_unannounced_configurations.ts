import type { Knex } from '@tocsin/postgres';

/** Changes of configurations for which the gateway has not raised the workspace's version yet. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('unannounced_configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('the configuration_version of the latest change');
  });
}
