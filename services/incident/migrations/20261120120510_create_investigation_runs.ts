import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('investigation_runs', (table) => {
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.text('run_id').notNullable();
    table.text('status').notNullable();
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.timestamp('completed_at', { precision: 3 });
    table.timestamp('told_at', { precision: 3 }).notNullable().comment('when the event that said so occurred');
    table.primary(['incident_id', 'run_id']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('investigation_runs');
}
