import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('incident_counters', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('last').notNullable();
  });
  await knex.schema.createTable('incidents', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('number').notNullable().comment('counts from 1 in each workspace; the human ID is INC-<number>');
    table.bigInteger('revision').notNullable().defaultTo(1);
    table.text('title').notNullable();
    table.text('service').notNullable().defaultTo('');
    table.specificType('regions', 'text[]').notNullable().defaultTo('{}');
    table.text('severity').notNullable();
    table.text('severity_mode').notNullable();
    table.text('status').notNullable();
    moment('status_changed_at');
    table.text('issue_type').notNullable();
    table.bigInteger('team_id');
    table.text('slack_channel_id').notNullable().defaultTo('');
    table.text('meet_url').notNullable().defaultTo('');
    table.text('doc_url').notNullable().defaultTo('');
    table.text('impact_summary').notNullable().defaultTo('');
    table.text('short_title').notNullable().defaultTo('').comment('a part of names of chat channels');
    table.text('customer_impact_status').notNullable();
    moment('impact_started_at');
    moment('first_reported_at');
    moment('first_responded_at');
    moment('recovered_at');
    moment('ended_at').comment('the last change into a terminal status, while the status is terminal');
    table.text('incident_manager').notNullable().defaultTo('');
    table.specificType('incident_responders', 'text[]').notNullable().defaultTo('{}');
    table.jsonb('custom_fields').notNullable().defaultTo('{}');
    table.bigInteger('event_count').notNullable().defaultTo(0);
    moment('last_event_at');
    table.text('last_event_summary').notNullable().defaultTo('');
    table.bigInteger('affected_customers').comment('null: never told');
    table.jsonb('mrr').comment('[{ currency, amount_minor }]; null: never told');
    moment('impact_as_of');
    table.jsonb('latest_run').comment('the investigation run that started last');
    table.bigInteger('run_count').notNullable().defaultTo(0);
    moment('created_at').notNullable();
    table.text('created_by').notNullable();
    moment('archived_at');
    table.bigInteger('archived_by');
    table.unique(['workspace_id', 'number']);
  });
  await knex.raw(`
    create index incidents_active_by_creation on incidents (workspace_id, created_at desc, id desc) where archived_at is null`);

  await knex.schema.createTable('changelog', (table) => {
    table.bigIncrements('id');
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('revision').notNullable();
    table.text('actor').notNullable();
    table.timestamp('changed_at', { precision: 3 }).notNullable();
    table.jsonb('changes').notNullable().comment('[{ field, from, to }]');
    table.index(['incident_id', 'id']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('changelog').dropTable('incidents').dropTable('incident_counters');
}
