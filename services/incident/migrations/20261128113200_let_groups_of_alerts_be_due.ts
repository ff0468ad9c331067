import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('alert_groups', (table) => {
    table
      .jsonb('quiet')
      .comment('what is asked for if nothing is heard of it: its name, seconds, options; null: nothing');
    table.timestamp('quiet_at', { precision: 3 }).comment('when nothing has been heard of it for so long');
  });
}
