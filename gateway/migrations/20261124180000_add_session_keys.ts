import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('api_keys', (table) => {
    table.text('kind').notNullable().defaultTo('key').comment('key; session: of a browser, see domain/session.ts');
  });
}
