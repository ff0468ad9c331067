import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'deliveries_by_status',
    on: 'deliveries (workspace_id, status, restricted, id)',
  });
}
