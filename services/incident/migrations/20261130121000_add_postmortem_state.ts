import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.text('postmortem_state').comment('of the row in postmortems; null: there is none');
  });
}
