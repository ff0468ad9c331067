import type { Knex } from '@tocsin/postgres';

/**
 * What this service needs to know of other services' data. `version` is the owner's version of the workspace at which a
 * row was as it stands here; older news of it is ignored.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('replica_versions', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.text('owner').notNullable();
    table.bigInteger('version').notNullable().comment('everything up to it is here');
    table
      .bigInteger('workspace_version')
      .notNullable()
      .comment("the gateway's version of the workspace when last asked");
    table.primary(['workspace_id', 'owner']);
  });
  await knex.schema.createTable('replica_users', (table) => {
    table.bigInteger('id').primary();
    table.bigInteger('workspace_id').notNullable().index();
    table.boolean('active').notNullable();
    table.bigInteger('version').notNullable();
  });
  await knex.schema.createTable('replica_teams', (table) => {
    table.bigInteger('id').primary();
    table.bigInteger('workspace_id').notNullable().index();
    table.text('name').notNullable();
    table.text('slug').notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
  });
  await knex.schema.createTable('replica_services', (table) => {
    table.bigInteger('id').primary();
    table.bigInteger('workspace_id').notNullable();
    table.text('slug').notNullable();
    table.text('tier').notNullable();
    table.bigInteger('owner_team_id');
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.unique(['workspace_id', 'slug']);
  });
  await knex.schema.createTable('replica_tiers', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.text('key').notNullable();
    table.integer('rank').notNullable();
    table.primary(['workspace_id', 'key']);
  });
  await knex.schema.createTable('replica_fields', (table) => {
    table.bigInteger('id').primary();
    table.bigInteger('workspace_id').notNullable();
    table.text('slug').notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.jsonb('definition').notNullable();
    table.bigInteger('version').notNullable();
    table.unique(['workspace_id', 'slug']);
  });
}

export async function down(knex: Knex): Promise<void> {
  for (const name of ['fields', 'tiers', 'services', 'teams', 'users', 'versions']) {
    await knex.schema.dropTable(`replica_${name}`);
  }
}
