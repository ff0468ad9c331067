import type { Knex } from '@tocsin/postgres';

/** Changes are read in pages, by version and ID. Active rows are counted at every create, for the quota. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index teams_changes on teams (workspace_id, version, id)');
  await knex.raw('create index services_changes on services (workspace_id, version, id)');
  await knex.raw('create index teams_active on teams (workspace_id) where archived_at is null');
  await knex.raw('create index services_active on services (workspace_id) where archived_at is null');
  await knex.schema.alterTable('replica_versions', (table) => {
    table
      .text('position')
      .comment('of a pull that is not complete; null: the replica has all changes up to the version');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('replica_versions', (table) => table.dropColumn('position'));
  await knex.raw('drop index teams_active');
  await knex.raw('drop index services_active');
  await knex.raw('drop index teams_changes');
  await knex.raw('drop index services_changes');
}
