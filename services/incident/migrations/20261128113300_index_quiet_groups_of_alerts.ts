import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'alert_groups_quiet',
    on: 'alert_groups (quiet_at) where quiet_at is not null',
  });
}
