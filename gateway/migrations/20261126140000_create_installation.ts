import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('installation', (table) => {
    table.comment('one row, which the first request for it makes; a backup has it');
    table.boolean('is_only_row').primary().checkIn(['true']);
    table.uuid('id').notNullable();
  });
}
