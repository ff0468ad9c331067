import type { Knex } from '@tocsin/postgres';

/** Alerts of monitors, and what has become of them (ADR 98). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_sources', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable().comment('the API key, which is the monitor');
    table.timestamp('minute', { precision: 3 }).comment('in which the incidents are counted');
    table.integer('declared').notNullable().defaultTo(0).comment('incidents of that minute');
    table.bigInteger('last_incident_id').comment('the latest of them, which stands for all further groups');
    table.integer('groups').notNullable().defaultTo(0).comment('that it stands for');
    table.bigInteger('members').notNullable().defaultTo(0).comment('rows of alert_members');
    table.bigInteger('notifications').notNullable().defaultTo(0).comment('that were ever recorded');
    table.primary(['workspace_id', 'key_id']);
  });
  await knex.schema.createTable('alert_groups', (table) => {
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable();
    table.binary('identity').notNullable().comment("digest of the monitor's own identity of the group");
    table.bigInteger('incident_id').references('id').inTable('incidents').onDelete('CASCADE');
    table.integer('firing').notNullable().defaultTo(0).comment('members that fire');
    table.timestamp('updated_at', { precision: 3 }).notNullable().index();
    table.unique(['workspace_id', 'key_id', 'identity']);
    table.index('incident_id');
  });
  await knex.schema.createTable('alert_members', (table) => {
    table.bigInteger('group_id').notNullable().references('id').inTable('alert_groups').onDelete('CASCADE');
    table.binary('alert').notNullable().comment('digest of its identity in the group');
    table.boolean('is_firing').notNullable();
    table.timestamp('firing', { precision: 3 }).comment('when its latest firing began, as the monitor says');
    table.boolean('is_acknowledged').notNullable();
    table.primary(['group_id', 'alert']);
  });
  await knex.schema.createTable('alert_incidents', (table) => {
    table.bigInteger('incident_id').primary().references('id').inTable('incidents').onDelete('CASCADE');
    table.timestamp('ended_at', { precision: 3 }).comment('when all alerts had ended; null: one fires');
    table.timestamp('recovered_at', { precision: 3 }).comment('that this end has given the incident; null: none');
    table.bigInteger('resolved_revision').comment('of the incident when this end resolved it; null: it did not');
  });
  await knex.schema.createTable('alert_notifications', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable();
    table.integer('place').notNullable().comment('later notifications of the key take the places of earlier ones');
    table.bigIncrements('id', { primaryKey: false });
    table.timestamp('received_at', { precision: 3 }).notNullable().index();
    table.text('key_name').notNullable();
    table.text('key_prefix').notNullable();
    table.text('format').notNullable();
    table.text('identity').notNullable().comment('its beginning');
    table.text('outcome').notNullable();
    table.text('reason').notNullable().defaultTo('');
    table.bigInteger('incident_id').references('id').inTable('incidents').onDelete('SET NULL');
    table.integer('groups').notNullable();
    table.integer('started').notNullable();
    table.integer('ended').notNullable();
    table.integer('unchanged').notNullable();
    table.primary(['workspace_id', 'key_id', 'place']);
    table.unique(['workspace_id', 'id']);
  });
}
