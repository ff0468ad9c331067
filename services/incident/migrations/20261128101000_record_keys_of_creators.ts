import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.jsonb('created_by_key').comment('{ name, prefix } of the API key that created it; null: not known');
    table
      .timestamp('first_acted_at', { precision: 3 })
      .comment('when a person who did not create it first acted on it; null: nobody has, or not known');
  });
}
