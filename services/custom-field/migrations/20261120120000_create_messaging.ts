import { createOutboxTable } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('outbox');
}
