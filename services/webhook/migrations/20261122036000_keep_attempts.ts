import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('attempts', (table) => {
    table.bigInteger('delivery_id').notNullable().references('id').inTable('deliveries').onDelete('CASCADE');
    table.specificType('number', 'smallint').notNullable().comment('counted as in deliveries.attempts');
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.integer('duration').notNullable().comment('milliseconds');
    table.text('result').notNullable().comment('succeeded, deferred, or the reason of the failure from a fixed list');
    table.integer('status').comment('the HTTP status, if response headers arrived');
    table.primary(['delivery_id', 'number']);
  });

  // An operator may deliver an event again: a further delivery of the same event, with attempts and a deadline of its
  // own.
  await knex.schema.alterTable('deliveries', (table) => {
    table.specificType('redelivery', 'smallint').notNullable().defaultTo(0).comment('0: the first delivery');
    table.text('requested_by').comment('the operator who asked for the redelivery');
    table.unique(['event_id', 'subscription_id', 'redelivery']);
    table.dropUnique(['event_id', 'subscription_id']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex('deliveries').where('redelivery', '>', 0).delete();
  await knex.schema.alterTable('deliveries', (table) => {
    table.unique(['event_id', 'subscription_id']);
    table.dropUnique(['event_id', 'subscription_id', 'redelivery']);
    table.dropColumn('requested_by');
    table.dropColumn('redelivery');
  });
  await knex.schema.dropTable('attempts');
}
