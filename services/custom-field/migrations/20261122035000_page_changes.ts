import type { Knex } from '@tocsin/postgres';

/** Changes are read in pages, by version and ID. Active rows are counted at every create, for the quota. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index definitions_changes on definitions (workspace_id, version, id)');
  await knex.raw('create index definitions_active on definitions (workspace_id) where archived_at is null');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index definitions_active');
  await knex.raw('drop index definitions_changes');
}
