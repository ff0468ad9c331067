import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('provisionings', (table) => {
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('provisionings', (table) => void table.dropColumn('trace_context'));
}
