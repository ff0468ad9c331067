import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  const moment = { precision: 3 };
  await knex.schema.createTable('channel_updates', (table) => {
    table.bigInteger('incident_id').primary().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('posted_entry').notNullable().comment('what the changelog has up to this entry is posted');
    table.bigInteger('last_entry').notNullable().comment('of the changelog, of the last change that is to be posted');
    table.text('status').notNullable().checkIn(['pending', 'running', 'succeeded', 'failed']);
    table.integer('attempts').notNullable().defaultTo(0);
    table.integer('failures').notNullable().defaultTo(0).comment('since a message was last posted or asked for');
    table.integer('waits').notNullable().defaultTo(0).comment('attempts that were told to wait, since then');
    table.text('error_code');
    table.timestamp('due_at', moment).comment('pending: the next attempt; running: when its lease is over');
    table.uuid('lease').comment('who runs it');
    table.text('request_id').notNullable().comment('of the last change');
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
    table.timestamp('updated_at', moment).notNullable();
  });
  await knex.raw(`
    create index channel_updates_due on channel_updates (workspace_id, due_at) where due_at is not null`);
  // Whether a workspace has a running one, while many wait for Slack.
  await knex.raw(`
    create index channel_updates_running on channel_updates (workspace_id, due_at) where status = 'running'`);
  // When the next one is due is asked for across all workspaces.
  await knex.raw('create index channel_updates_next on channel_updates (due_at) where due_at is not null');
}
