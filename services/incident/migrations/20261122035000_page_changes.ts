import type { Knex } from '@tocsin/postgres';

/** Replicas are pulled page by page, and an interrupted pull continues where it stopped. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('replica_versions', (table) => {
    table
      .text('position')
      .comment('of a pull that is not complete; null: the replica has all changes up to the version');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('replica_versions', (table) => table.dropColumn('position'));
}
