import type { Knex } from '@tocsin/postgres';
import { createInboxTable } from '../../src/inbox.ts';
import { createDeadLetterTable, createOutboxTable } from '../../src/outbox.ts';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await createInboxTable(knex);
  await knex.schema.createTable('effects', (table) => {
    table.bigIncrements('id');
    table.text('reference').notNullable();
  });
}
