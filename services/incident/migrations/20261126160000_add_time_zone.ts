import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('configurations', (table) => {
    table.text('time_zone').comment('a name of the IANA time zone database; null: UTC');
  });
}
