import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('subscriptions', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.text('id').primary();
    table.specificType('seq', 'bigserial').notNullable().comment('the order of creation');
    table.bigInteger('workspace_id').notNullable();
    table.text('origin').notNullable().comment('scheme and host: all of the URL that is ever shown');
    table.text('host').notNullable().comment('what the limits by host name count');
    table.text('url_key_id').comment('null once revoked');
    table.binary('url_box').comment('the whole URL, sealed: its path and query may hold secrets');
    table.specificType('event_types', 'text[]').notNullable();
    table.text('status').notNullable().checkIn(['active', 'paused', 'revoked']);
    table.boolean('verified').notNullable().defaultTo(false);
    table.integer('consecutive_failures').notNullable().defaultTo(0);
    moment('created_at').notNullable();
    moment('updated_at').notNullable();
    moment('last_success_at');
    moment('last_failure_at');
    table.index(['workspace_id', 'seq']);
  });

  await knex.schema.createTable('secrets', (table) => {
    table.bigIncrements('id');
    table.text('subscription_id').notNullable().references('id').inTable('subscriptions').onDelete('CASCADE');
    table.text('key_id').notNullable();
    table.binary('box').notNullable().comment('sealed, with the subscription as context');
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table
      .timestamp('expires_at', { precision: 3 })
      .index()
      .comment('null: the current one; else the end of its overlap');
  });
  await knex.raw(`create unique index secrets_current on secrets (subscription_id) where expires_at is null`);
  await knex.raw(`create unique index secrets_previous on secrets (subscription_id) where expires_at is not null`);

  await knex.schema.createTable('activity', (table) => {
    table.bigIncrements('id');
    table.text('subscription_id').notNullable().references('id').inTable('subscriptions').onDelete('CASCADE');
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.timestamp('ended_at', { precision: 3 }).index().comment('exclusive; null: goes on');
    table.index(['subscription_id', 'started_at']);
  });
  await knex.raw(`create unique index activity_current on activity (subscription_id) where ended_at is null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('activity').dropTable('secrets').dropTable('subscriptions');
}
