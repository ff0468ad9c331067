import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('identity_version', (table) => {
    table.comment('one row, which every change of a workspace, a user or a key raises');
    table.boolean('is_only_row').primary().checkIn(['true']);
    table.bigInteger('version').notNullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('identity_version');
}
