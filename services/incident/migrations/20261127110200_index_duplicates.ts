import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'incidents_duplicates',
    on: 'incidents (workspace_id, created_at, id) where is_duplicate',
  });
}
