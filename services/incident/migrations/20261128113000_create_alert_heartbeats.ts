import type { Knex } from '@tocsin/postgres';

/** What must be heard until when: heartbeats of monitors, and groups of alerts that fire. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_heartbeats', (table) => {
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable().comment('the monitor: the first key of its rotations');
    table.text('name').notNullable();
    table.integer('within').notNullable().comment('seconds in which it must be heard again');
    table.timestamp('heard_at', { precision: 3 }).notNullable();
    table.timestamp('due_at', { precision: 3 }).notNullable().comment('when it is missed, or its alert fires again');
    table.timestamp('missed_at', { precision: 3 }).comment('since when its alert fires; null: it does not');
    table.jsonb('options').notNullable().comment('how its alert becomes an incident');
    table.unique(['workspace_id', 'key_id', 'name']);
  });
  await knex.raw('create index alert_heartbeats_due on alert_heartbeats (due_at)');
  await knex.schema.createTable('alert_clock', (table) => {
    table.boolean('is_only_row').primary().defaultTo(true);
    table.timestamp('ticked_at', { precision: 3 }).notNullable().comment('when heartbeats could last have been heard');
    table.check('is_only_row');
  });
}
