import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('feed_workspaces', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('position').notNullable().defaultTo(0).comment('of the latest event; 0: none yet');
    table.bigInteger('swept').notNullable().defaultTo(0).comment('events up to this position are deleted');
    table
      .timestamp('recorded_at', { precision: 3 })
      .comment('of the latest event: later ones never have an earlier time, whatever the clock does');
  });

  await knex.schema.createTable('feed_events', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('position').notNullable().comment('1, 2, 3, … in each workspace, without gaps');
    table.uuid('event_id').notNullable();
    table.text('type').notNullable();
    table.text('resource').notNullable().comment('what the event is about, as the API writes it: incident:12');
    table.timestamp('recorded_at', { precision: 3 }).notNullable().index().comment('decides when it is deleted');
    table.text('body').notNullable().comment('the message as it came from the broker');
    table.primary(['workspace_id', 'position']);
    table.unique(['workspace_id', 'event_id']);
    table.index(['workspace_id', 'type', 'position']);
    table.index(['workspace_id', 'resource', 'type', 'position']);
  });

  await knex.schema.createTable('feed_epoch', (table) => {
    table.boolean('only').primary().defaultTo(true).comment('there is one row');
    table.text('epoch').notNullable().comment('random; cursors of another epoch have expired');
    table.jsonb('fingerprint').notNullable().comment('of the physical database that the epoch belongs to');
    table.check('"only"');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('feed_epoch').dropTable('feed_events').dropTable('feed_workspaces');
}
