import { createDeadLetterTable, createOutboxTable } from '@tocsin/messaging';
import { addWorkspaceKey, type Knex } from '@tocsin/postgres';

/** `version` is the workspace's version at a row's last change: what replicas have not seen yet is found by it. */
export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await knex.schema.createTable('workspace_versions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('counts the changes of definitions');
    table
      .timestamp('changed_at', { precision: 3 })
      .notNullable()
      .defaultTo(knex.fn.now())
      .index()
      .comment('of the latest version: what changed lately is announced again');
  });
  await knex.schema.createTable('definitions', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('revision').notNullable();
    table.text('name').notNullable();
    table.text('slug').notNullable().comment('permanent, and taken for good');
    table.text('field_type').notNullable().comment('permanent');
    table.text('description');
    table.text('external_id');
    table.jsonb('default_value');
    table.jsonb('config');
    table.boolean('required').notNullable();
    table.integer('sort_order').notNullable();
    table.text('category').notNullable();
    table.text('visibility_level').notNullable();
    table.boolean('show_on_creation').notNullable();
    table.boolean('required_on_creation').notNullable();
    table.boolean('auto_add_to_layout').notNullable();
    table.text('external_source');
    for (const moment of ['created_at', 'updated_at']) table.timestamp(moment, { precision: 3 }).notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.unique(['workspace_id', 'slug']);
    table.index(['workspace_id', 'sort_order', 'created_at', 'id']);
  });
  // Changes are read in pages, by version and ID. Active rows are counted at every create, for the quota.
  await knex.raw('create index definitions_changes on definitions (workspace_id, version, id)');
  await knex.raw('create index definitions_active on definitions (workspace_id) where archived_at is null');
  await knex.raw(`
    create index definitions_by_external_id on definitions (workspace_id, external_id) where external_id is not null`);
}
