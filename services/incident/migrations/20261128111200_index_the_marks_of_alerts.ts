import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'alert_members_by_mark',
    on: 'alert_members (workspace_id, key_id, mark) where is_firing',
  });
}
