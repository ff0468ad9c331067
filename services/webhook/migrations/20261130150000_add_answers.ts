import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('attempts', (table) => {
    table.text('answer').comment('the beginning of what the receiver said, without secrets; null: nothing');
  });
}
