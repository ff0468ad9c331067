import type { Knex } from '@tocsin/postgres';

/** Nothing is added to what was measured: the next measurement includes it, with the responses of idempotency keys. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('workspace_storage', (table) => {
    table.jsonb('next_key').comment('keys up to this one are counted: user, route and key; null: none');
    table.dropColumns('written_bytes', 'written_before');
  });
}
