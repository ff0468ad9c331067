import { createDeadLetterTable, createOutboxTable } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
}
