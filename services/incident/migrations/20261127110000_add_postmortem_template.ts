import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('configurations', (table) => {
    table.text('postmortem_template').comment('Markdown with placeholders; null or empty: the built-in one');
  });
}
