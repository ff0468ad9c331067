import type { Knex } from '@tocsin/postgres';

/** About how many bytes a workspace stores. Processes add what they write; a task measures it again from time to time. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('workspace_storage', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('measured_bytes').notNullable().defaultTo(0).comment('at the last measurement');
    table.timestamp('measured_at', { precision: 3 }).comment('null: never');
    table.bigInteger('written_bytes').notNullable().defaultTo(0).comment('since the last measurement began');
    table
      .timestamp('due_at', { precision: 3 })
      .defaultTo(knex.fn.now())
      .comment('when a measurement became due; null: not enough was written since the last one');
    // The measurement in progress.
    table.bigInteger('next_number').notNullable().defaultTo(0).comment('incidents up to this number are counted');
    table.bigInteger('counted_bytes').notNullable().defaultTo(0).comment('of the incidents that are counted');
    table.bigInteger('written_before').notNullable().defaultTo(0).comment('written_bytes when it began');
  });
  await knex.raw('create index workspace_storage_due on workspace_storage (due_at) where due_at is not null');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('workspace_storage');
}
