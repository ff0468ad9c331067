import type { Knex } from 'knex';

/**
 * The key of a table of workspaces: the workspace first, so that the table can be partitioned or distributed by it, and an
 * ID that is unique in the installation. For migrations.
 */
export function addWorkspaceKey(table: Knex.CreateTableBuilder): void {
  table.bigInteger('workspace_id').notNullable();
  table.bigIncrements('id', { primaryKey: false });
  table.primary(['workspace_id', 'id']);
}

/**
 * A row is deleted with the one of its workspace that the column refers to. For migrations.
 * @param key the column of the parent; by default its ID
 */
export function belongsTo(table: Knex.CreateTableBuilder, parent: string, column: string, key = 'id'): void {
  table.foreign(['workspace_id', column]).references(['workspace_id', key]).inTable(parent).onDelete('CASCADE');
}
