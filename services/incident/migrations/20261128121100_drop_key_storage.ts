import type { Knex } from '@tocsin/postgres';

/** The responses of idempotency keys are measured where they are. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.dropTable('key_storage');
}
