import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('timeline_attachments', (table) => {
    table.text('url').comment('where another system shows it, an image of a monitor; null: it is in the file store');
  });
}
