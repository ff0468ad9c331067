import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('workspace_versions', (table) => {
    table
      .timestamp('changed_at', { precision: 3 })
      .notNullable()
      .defaultTo(knex.fn.now())
      .index()
      .comment('of the latest version: what changed lately is announced again');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('workspace_versions', (table) => table.dropColumn('changed_at'));
}
