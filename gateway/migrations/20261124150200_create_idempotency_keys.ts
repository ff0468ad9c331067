import { createIdempotencyTable } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createIdempotencyTable(knex);
}
