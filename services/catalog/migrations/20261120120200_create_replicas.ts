import type { Knex } from '@tocsin/postgres';

/**
 * What this service needs to know of the gateway's users. `version` is the gateway's version of the workspace at which a
 * row was as it stands here; older news of it is ignored.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('replica_versions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('everything up to it is here');
  });
  await knex.schema.createTable('replica_users', (table) => {
    table.bigInteger('id').primary();
    table.bigInteger('workspace_id').notNullable().index();
    table.text('email').notNullable();
    table.text('name').notNullable();
    table.specificType('sort_name', 'text collate "C"').notNullable();
    table.boolean('active').notNullable();
    table.bigInteger('version').notNullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('replica_users').dropTable('replica_versions');
}
