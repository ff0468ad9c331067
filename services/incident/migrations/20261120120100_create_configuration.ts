import type { Knex } from '@tocsin/postgres';

/** A workspace without a row has the defaults of `domain/configuration.ts`. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.jsonb('workflow_statuses').comment('the whole list, in workflow order');
    table.jsonb('severities').comment('the whole list, most severe first');
    table.jsonb('exchange_rates').comment('by currency');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('configurations');
}
