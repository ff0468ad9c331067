import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('deliveries', (table) => {
    table
      .specificType('internal_failures', 'smallint')
      .notNullable()
      .defaultTo(0)
      .comment('since the latest attempt: failures before a request, for a cause inside Tocsin');
  });
  await knex.raw(`comment on column deliveries.attempts is
    'whose requests were confirmed, the one under way included, and deferred ones'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('deliveries', (table) => void table.dropColumn('internal_failures'));
}
