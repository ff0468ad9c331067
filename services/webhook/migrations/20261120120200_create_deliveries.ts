import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('events', (table) => {
    table.uuid('id').primary();
    table.bigInteger('workspace_id').notNullable();
    table.text('body').notNullable().comment('the exact text that every attempt sends');
    table.text('request_id').comment('of the request that caused the event');
    table.timestamp('occurred_at', { precision: 3 }).notNullable();
    table.timestamp('queued_at', { precision: 3 }).notNullable().index();
  });

  await knex.schema.createTable('deliveries', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigIncrements('id');
    table.uuid('event_id').notNullable().references('id').inTable('events').onDelete('CASCADE');
    table.text('subscription_id').notNullable().references('id').inTable('subscriptions').onDelete('CASCADE');
    table.bigInteger('workspace_id').notNullable();
    table
      .text('status')
      .notNullable()
      .checkIn(['queued', 'held', 'succeeded', 'failed', 'cancelled'])
      .comment('held: queued, while the subscription is paused');
    table.integer('attempts').notNullable().defaultTo(0).comment('the one under way counted, and deferred ones');
    table.integer('failed_attempts').notNullable().defaultTo(0);
    moment('due_at').notNullable().comment('the next attempt; while one is under way, the end of its lease');
    moment('deadline_at').notNullable();
    table.uuid('lease_token').comment('set while an attempt is under way; who holds it may finish it');
    table.text('last_error').comment('a reason from a fixed list, never text of the receiver');
    table.integer('last_status').comment('the HTTP status of the latest answer');
    moment('finished_at');
    table.unique(['event_id', 'subscription_id']);
    table.index('subscription_id');
  });
  // One lane a subscription: the claim skips from lane to lane and looks at the head of each.
  await knex.raw(`
    create index deliveries_lanes on deliveries (workspace_id, subscription_id, due_at, id) where status = 'queued'`);
  await knex.raw(`create index deliveries_due on deliveries (due_at) where status = 'queued'`);
  await knex.raw(`
    create index deliveries_waiting on deliveries (workspace_id, subscription_id) where status in ('queued', 'held')`);
  await knex.raw(`
    create index deliveries_deadline on deliveries (deadline_at) where status in ('queued', 'held')`);
  await knex.raw(`create unique index deliveries_leases on deliveries (lease_token) where lease_token is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('deliveries').dropTable('events');
}
