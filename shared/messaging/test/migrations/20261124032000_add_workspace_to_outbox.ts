import { addWorkspaceToOutbox } from '../../src/outbox.ts';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await addWorkspaceToOutbox(knex);
}

export async function down(): Promise<void> {
  // The test database is dropped.
}
