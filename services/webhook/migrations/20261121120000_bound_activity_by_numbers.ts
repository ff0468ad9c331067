import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('activity', (table) => {
    table.bigInteger('after_number').comment('active for incidents of higher numbers; null: by started_at');
    table.bigInteger('until_number').comment('inclusive; null: by ended_at');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('activity', (table) => {
    table.dropColumn('after_number');
    table.dropColumn('until_number');
  });
}
