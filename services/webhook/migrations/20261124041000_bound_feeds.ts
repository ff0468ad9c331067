import type { Knex } from '@tocsin/postgres';

/**
 * Bytes are counted up and never down: what a feed has is the difference between its latest and its oldest event, however
 * events are deleted. Events from before have 0 and count nothing until they are deleted.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('feed_workspaces', (table) => {
    table.bigInteger('recorded_bytes').notNullable().defaultTo(0).comment('of all events that were ever recorded');
  });
  await knex.schema.alterTable('feed_events', (table) => {
    table.bigInteger('recorded_bytes').notNullable().defaultTo(0).comment('of all events up to this one');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('feed_events', (table) => void table.dropColumn('recorded_bytes'));
  await knex.schema.alterTable('feed_workspaces', (table) => void table.dropColumn('recorded_bytes'));
}
