import type { Knex } from '@tocsin/postgres';

/** Changes of users are read in pages, by version and ID. A workspace may have quotas of its own. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index users_changes on users (workspace_id, version, id)');
  await knex.schema.alterTable('workspaces', (table) => {
    table.jsonb('quotas').notNullable().defaultTo('{}').comment('by name; null: unlimited; others have their defaults');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('workspaces', (table) => table.dropColumn('quotas'));
  await knex.raw('drop index users_changes');
}
