import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('api_keys', (table) => {
    table.bigInteger('first_key_id').comment('the first of the keys that it has replaced by rotations; null: none');
  });
}
