import type { Knex } from '@tocsin/postgres';

/** `version` is the workspace's version at a row's last change: what replicas have not seen yet is found by it. */
export async function up(knex: Knex): Promise<void> {
  const common = (table: Knex.CreateTableBuilder) => {
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('revision').notNullable();
    table.text('name').notNullable();
    table.specificType('sort_name', 'text collate "C"').notNullable().comment('what lists sort the name by');
    table.text('slug').notNullable().comment('permanent, and taken for good');
    table.text('description');
    for (const moment of ['created_at', 'updated_at']) table.timestamp(moment, { precision: 3 }).notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.unique(['workspace_id', 'slug']);
    table.index(['workspace_id', 'version']);
  };
  await knex.schema.createTable('teams', (table) => {
    common(table);
    table.bigInteger('parent_team_id').references('id').inTable('teams').index();
    table.integer('member_count').notNullable().defaultTo(0).comment('members who are active users');
    table.index(['workspace_id', 'sort_name', 'id']);
  });
  await knex.schema.createTable('services', (table) => {
    common(table);
    table.bigInteger('owner_team_id').references('id').inTable('teams');
    table.text('tier').notNullable();
    table.specificType('tags', 'text[]').notNullable();
    table.text('external_id');
    table.specificType('observability_names', 'text[]').notNullable();
    table.index(['workspace_id', 'tier', 'sort_name', 'id']);
  });
  await knex.schema.createTable('team_members', (table) => {
    table.bigInteger('team_id').notNullable().references('id').inTable('teams');
    table.bigInteger('user_id').notNullable().index();
    table.text('role').notNullable();
    for (const moment of ['created_at', 'updated_at']) table.timestamp(moment, { precision: 3 }).notNullable();
    table.primary(['team_id', 'user_id']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('team_members').dropTable('services').dropTable('teams');
}
