import { createIdempotencyTable } from '@tocsin/http';
import { createInboxTable, createOutboxTable } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createInboxTable(knex);
  await createIdempotencyTable(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('idempotency_keys').dropTable('inbox').dropTable('outbox');
}
