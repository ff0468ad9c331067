import { addTraceToOutbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await addTraceToOutbox(knex);
}

export async function down(): Promise<void> {
  // The test database is dropped.
}
