import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('alert_incidents', (table) => {
    table
      .timestamp('last_end', { precision: 3 })
      .comment('the latest end of its alerts, as monitors say it; null: none');
  });
}
