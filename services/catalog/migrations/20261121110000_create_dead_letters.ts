import { createDeadLetterTable } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createDeadLetterTable(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('dead_letters');
}
