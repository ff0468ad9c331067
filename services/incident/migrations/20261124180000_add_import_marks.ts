import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.text('external_url').notNullable().defaultTo('').comment('in the system that it was imported from');
    table.timestamp('imported_at', { precision: 3 }).comment('null: it was created here');
  });
}
