import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('workspace_versions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('counts the changes of teams, services and tiers');
  });
  await knex.schema.createTable('configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.jsonb('service_tiers').notNullable().comment('the whole list, in rank order');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('configurations').dropTable('workspace_versions');
}
