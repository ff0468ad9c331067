import type { Knex } from '@tocsin/postgres';
import { createIdempotencyTable } from '../../src/idempotency/idempotency-keys.ts';

export async function up(knex: Knex): Promise<void> {
  await createIdempotencyTable(knex);
  await knex.schema.createTable('things', (table) => {
    table.bigIncrements('id');
    table.text('key').notNullable();
  });
}
