import type { Knex } from '@tocsin/postgres';

/** Chat connections, and what is set up in the chat for incidents. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('chat_connections', (table) => {
    table.bigInteger('workspace_id').primary();
    table.text('key_id').notNullable().comment('the secret key that sealed the token');
    table.binary('token_box').notNullable();
    table.text('channel_template').notNullable();
    table.timestamp('updated_at', { precision: 3 }).notNullable();
  });

  await knex.schema.createTable('provisionings', (table) => {
    table.bigInteger('incident_id').primary().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('workspace_id').notNullable();
    table.text('workspace_slug').notNullable();
    table.boolean('is_demo').notNullable();
    table.text('request_id').notNullable().comment('of the request that asked for it');
    table
      .text('marker')
      .notNullable()
      .comment('in the purpose of the channel that is made: by it the channel is found again');
    table.specificType('usergroups', 'text[]').notNullable();
    table
      .text('channel_name')
      .index()
      .comment('fixed before the chat is asked for a channel, so that every attempt asks for the same');
    table.timestamp('named_at', { precision: 3 });
    table.timestamp('created_at', { precision: 3 }).notNullable();
  });

  await knex.schema.createTable('provisioning_steps', (table) => {
    table
      .bigInteger('incident_id')
      .notNullable()
      .references('incident_id')
      .inTable('provisionings')
      .onDelete('CASCADE');
    table.bigInteger('workspace_id').notNullable();
    table.text('key').notNullable();
    table.text('status').notNullable().checkIn(['pending', 'running', 'succeeded', 'failed']);
    table.integer('attempts').notNullable().defaultTo(0);
    table.integer('failures').notNullable().defaultTo(0).comment('since the step was last asked for');
    table.integer('waits').notNullable().defaultTo(0).comment('attempts that were told to wait, since then');
    table.text('error_code');
    table
      .timestamp('due_at', { precision: 3 })
      .comment('pending: the next attempt, null while it waits for another step; running: when its lease is over');
    table.uuid('lease').comment('who runs it');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
    table.primary(['incident_id', 'key']);
  });
  await knex.raw(`
    create index provisioning_steps_due on provisioning_steps (workspace_id, due_at) where due_at is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('provisioning_steps').dropTable('provisionings').dropTable('chat_connections');
}
