import type { Knex } from '@tocsin/postgres';
import { createDeadLetterTable } from '../../src/outbox.ts';

export async function up(knex: Knex): Promise<void> {
  await createDeadLetterTable(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('dead_letters');
}
